package soak

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// sighting is the result of one look at all servers of a database.
type sighting struct {
	at time.Time
	// current is the application's cluster.
	current raft.ID
	// servers are running ones, each with the time when it was seen first.
	servers []server
}

type server struct {
	unit    string
	began   time.Time
	status  raft.Status
	cluster raft.ID
}

// served returns the clusters with a leader that a majority follows: a leader that is cut off leads alone for a
// while.
func (s sighting) served() (all []raft.ID) {
	for _, leader := range s.servers {
		if leader.status.Role != raft.Leader || leader.status.State != raft.ClusterMember || slices.Contains(all, leader.cluster) {
			continue
		}
		followers := 0
		for _, o := range s.servers {
			if o.cluster == leader.cluster && (o.status.Server == leader.status.Server || o.status.Leader == raft.Ref(leader.status.Server.Short())) {
				followers++
			}
		}
		if followers > len(leader.status.Servers)/2 {
			all = append(all, leader.cluster)
		}
	}
	return all
}

// span is a time in which a cluster served clients at each look.
type span struct {
	cluster  raft.ID
	from, to time.Time
}

// beside is a time in which two clusters of one database served clients.
type beside struct {
	clusters []raft.ID
	from, to time.Time
	// why is the excuse (docs/how-to/recover-quorum.md, What keeps the old cluster off). guarded means that there is no
	// excuse: a server was started beside one that would have reported that its cluster was given up.
	why     string
	guarded bool
	looks   int
}

// String returns a line for people.
func (b beside) String() string {
	return fmt.Sprintf("clusters %v were served at the same time, for %.1f s: %s", b.clusters,
		b.to.Sub(b.from).Seconds(), b.why)
}

// history is what was seen of one database since the first disaster.
type history struct {
	spans []span
	// first is when a server of each cluster was seen first.
	first  map[raft.ID]time.Time
	beside []beside
	open   bool
	// answer is how long a server that starts asks the others (internal/startguard).
	answer time.Duration
}

func (h *history) add(s sighting) {
	if h.first == nil {
		h.first = map[raft.ID]time.Time{}
	}
	for _, x := range s.servers {
		if began, seen := h.first[x.cluster]; !seen || x.began.Before(began) {
			h.first[x.cluster] = x.began
		}
	}
	served := s.served()
	for _, cluster := range served {
		h.extend(cluster, s.at)
	}
	if len(served) < 2 {
		h.open = false
		return
	}
	if h.open {
		b := &h.beside[len(h.beside)-1]
		b.to, b.looks = s.at, b.looks+1
		return
	}
	why, guarded := s.excuse(h.answer)
	h.open = true
	h.beside = append(h.beside,
		beside{clusters: slices.Sorted(slices.Values(served)), from: s.at, to: s.at, why: why, guarded: guarded, looks: 1})
}

// extend records that a cluster is served now. Two looks in a row are one span.
func (h *history) extend(cluster raft.ID, at time.Time) {
	for i := range h.spans {
		if h.spans[i].cluster == cluster && at.Sub(h.spans[i].to) <= lookGap {
			h.spans[i].to = at
			return
		}
	}
	h.spans = append(h.spans, span{cluster, at, at})
}

// lookGap is the maximum between two looks on a busy machine.
const lookGap = 10 * time.Second

// excuse explains why an old cluster is served: its servers ask others at their start, so the new ones were later.
func (s sighting) excuse(answer time.Duration) (why string, guarded bool) {
	var old []server
	running := map[string]time.Time{} // of the application's cluster
	for _, x := range s.servers {
		if x.cluster == s.current {
			running[x.unit] = x.began
		} else {
			old = append(old, x)
		}
	}
	for _, x := range old {
		for _, unit := range slices.Sorted(maps.Keys(running)) {
			if running[unit].Add(answer).Before(x.began) {
				return fmt.Sprintf("the server of %s was started at %s, after that of the new cluster on %s, at %s",
					x.unit, x.began.Format(time.TimeOnly), unit, running[unit].Format(time.TimeOnly)), true
			}
		}
	}
	return "its servers were started before one of the new cluster could be asked", false
}

// broken returns the first time of two served clusters without an excuse, or too long. A single look doesn't count.
func (h *history) broken(limit time.Duration) string {
	for _, b := range h.beside {
		if b.looks > 1 && (b.guarded || b.to.Sub(b.from) > limit) {
			return "two clusters serve clients: " + b.String()
		}
	}
	return ""
}

// seen returns the times in which two clusters were served.
func (h *history) seen() (all []beside) {
	return slices.DeleteFunc(slices.Clone(h.beside), func(b beside) bool { return b.looks < 2 })
}

func (h *history) lastServed(cluster raft.ID) (at time.Time) {
	for _, s := range h.spans {
		if s.cluster == cluster && s.to.After(at) {
			at = s.to
		}
	}
	return at
}

// excuses reports whether a write that was acknowledged at that time may be missing from the final cluster: another one
// was served then and can have acknowledged it, or the final one had no server yet.
func (h *history) excuses(at time.Time, last raft.ID) bool {
	if began, seen := h.first[last]; !seen || at.Before(began) {
		return true
	}
	return slices.ContainsFunc(h.spans, func(s span) bool {
		return s.cluster != last && at.After(s.from.Add(-lookGap)) && at.Before(s.to.Add(lookGap))
	})
}
