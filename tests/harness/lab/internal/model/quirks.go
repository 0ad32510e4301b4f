package model

import (
	"maps"
	"slices"
	"time"
)

// Quirks are the differences between versions of Juju, each with its own switch. Times are Juju's; the lab shortens
// them ([State].RetryScale). The differences of Juju 4 were observed on a controller of 4.0.15, or are from its
// source.
type Quirks struct {
	// PeersStay means that peers get no -departed, and stay in relation-list until the agent restarts (juju/juju issue
	// 23326).
	PeersStay bool
	// NoLeaderSettings means that there is no leader-get, no leader-set, and no hook for them.
	NoLeaderSettings bool
	// Late is the delay after which agents hear of others' writes and entries. These can be read earlier.
	Late time.Duration
	// JoinsApart is the time between two -joined on a relation, and between the agent's own entry and the first:
	// relation-list grows with each, while goal-state has all units from the beginning.
	JoinsApart time.Duration
	// GoneAfter is the time from a dying unit's last departure to its removal from the model, whatever its hooks do. Its
	// machine is removed after the same time again. A failed `stop` isn't retried. 0 means that the model waits for the
	// unit's `remove`.
	GoneAfter time.Duration
	// RefreshOnce means that a unit whose agent is down while the charm is refreshed keeps its charm until the next
	// refresh.
	RefreshOnce bool
	// StatusCut is how many bytes of a status message `juju status` shows.
	StatusCut int
}

const statusCut = 120

// QuirksOf returns the differences of a version of Juju.
func QuirksOf(version string) Quirks {
	w := Quirks{StatusCut: statusCut}
	if !(&State{JujuVersion: version}).Since(4, 0) {
		return w
	}
	w.PeersStay, w.NoLeaderSettings, w.RefreshOnce = true, true, true
	w.Late = 10 * time.Second // after a quiet time the change stream polls only that often
	w.JoinsApart = 5 * time.Second
	w.GoneAfter = 10 * time.Second // internal/worker/removal/worker.go, jobCheckMaxInterval
	return w
}

// Shown returns a message as `juju status` shows it (truncateMessage, as above).
func (w Quirks) Shown(message string) string {
	const ellipsis = "..."
	if w.StatusCut > 0 && len(message) > w.StatusCut {
		return message[:w.StatusCut-len(ellipsis)] + ellipsis
	}
	return message
}

// scaled converts a time of Juju to the lab's.
func (s *State) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.RetryScale)
}

func (s *State) time() time.Time {
	if s.clock != nil {
		return s.clock()
	}
	return time.Now()
}

// heard returns the version of a bag that agents know; 0 means none. When agents hear of a change, they hear of all
// later ones, too.
func (s *State) heard(b *Bag) int {
	if s.Quirks.Late == 0 {
		return b.Version
	}
	now := s.time()
	if b.Version != b.Noted {
		if !now.Before(b.Until) {
			b.Before, b.Until = b.Noted, now.Add(s.scaled(s.Quirks.Late))
		}
		b.Noted = b.Version
	}
	if now.Before(b.Until) {
		return b.Before
	}
	return b.Version
}

func (s *State) joinsAt(m *Membership) time.Time { return m.Joined.Add(s.scaled(s.Quirks.JoinsApart)) }

// Coming returns when the unit's agent hears of the next change, or zero if no change is on its way.
func (s *State) Coming(name string) (at time.Time) {
	u := s.Units[name]
	if u == nil || u.Dying || s.Quirks.Late == 0 && s.Quirks.JoinsApart == 0 {
		return at
	}
	now := s.time()
	sooner := func(t time.Time) {
		if t.After(now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, r := range s.Relations {
		m := u.Uniter.Relations[r.ID]
		if m == nil || r.Dying {
			continue
		}
		for _, bag := range slices.Concat(slices.Collect(maps.Values(r.RemoteUnits)), slices.Collect(maps.Values(r.Units)), []*Bag{r.OtherApp()}) {
			if s.heard(bag) != bag.Version {
				sooner(bag.Until)
			}
		}
		for unit := range s.members(u, r) {
			if _, joined := m.Members[unit]; !joined {
				sooner(s.joinsAt(m))
			}
		}
	}
	return at
}

// hearOfGone ends the effect of [Quirks].PeersStay: a restarted agent learns the units that really exist.
func (s *State) hearOfGone(u *Unit) {
	for id, m := range u.Uniter.Relations {
		r := s.Relation(id)
		if r == nil {
			continue
		}
		for name := range m.Members {
			if bag := r.Units[name]; bag != nil && !bag.InScope {
				if m.Gone == nil {
					m.Gone = map[string]bool{}
				}
				m.Gone[name] = true
			}
		}
	}
}

// stays reports whether the agent still counts a departed unit as a member of a peer relation.
func (s *State) stays(m *Membership, name string) bool {
	_, known := m.Members[name]
	return s.Quirks.PeersStay && known && !m.Gone[name]
}

// doom sets when a dying unit leaves the model. Juju 4 doesn't wait for hooks (MarkUnitAsDeadWithNoEntities).
func (s *State) doom(u *Unit) {
	if s.Quirks.GoneAfter == 0 || !u.Dying || !u.GoneAt.IsZero() {
		return
	}
	for _, r := range s.Relations {
		if bag := r.Units[u.Name]; bag != nil && bag.InScope {
			return
		}
	}
	u.GoneAt = s.time().Add(s.scaled(s.Quirks.GoneAfter))
}
