package maintenance

import "time"

// unreachableFor is how long an ovn-controller must follow nothing after it was asked until it
// counts as unreachable: one that is slow, or restarts, follows long before.
const unreachableFor = 180 * time.Second

// Verdict is what is known of an ovn-controller that was asked for a sign of life.
type Verdict int

// The verdicts.
const (
	Undecided Verdict = iota
	// Reachable: it has followed, or its row has changed since it was asked.
	Reachable
	// Unreachable: it has followed nothing for 180 s, while others did.
	Unreachable
	// Unprovable: the Southbound database may reach no chassis at all.
	Unprovable
)

// Sign is what Chassis_Private has of an ovn-controller.
type Sign struct {
	Chassis string
	// Known reports whether there is a row. Follows is its nb_cfg; Responds reports whether this is the nb_cfg that
	// was asked for at that time.
	Known    bool
	Follows  int64
	Responds bool
}

// Silence proves that the ovn-controller of a node can't be reached. Pass every look at Chassis_Private to
// [Silence.Observe], in the order of time, beginning when a sync was asked for.
type Silence struct {
	Chassis string

	first *Sign
	since time.Time
	// followed reports whether another one has responded since.
	followed bool
}

// Observe takes the signs of all ovn-controllers at a look, and returns what is known by then.
func (s *Silence) Observe(all []Sign, now time.Time) Verdict {
	var its *Sign
	others := 0
	for _, x := range all {
		switch {
		case x.Chassis == s.Chassis:
			its = &x
		case x.Known:
			others++
			s.followed = s.followed || x.Responds
		}
	}
	switch {
	case its == nil || !its.Known:
		return Unprovable
	case its.Responds || s.first != nil && its.Follows != s.first.Follows:
		return Reachable
	case s.first == nil:
		s.first, s.since = its, now
	}
	switch {
	case now.Sub(s.since) < unreachableFor:
		return Undecided
	case others > 0 && !s.followed:
		return Unprovable
	}
	return Unreachable
}

// OfPorts reports whether the hold is of ports that are bound to the node: a node that can't be reached releases none
// of them.
func (h Hold) OfPorts() bool { return h.Derived && h.Name != HoldMember }
