package maintenance

import (
	"slices"
	"time"
)

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
	// Unprovable: it can't be told from a Southbound database that reaches no chassis.
	Unprovable
)

// Sign is what stands in Chassis_Private of an ovn-controller.
type Sign struct {
	Chassis string
	// Known says that there is a row; Follows is its nb_cfg, and Responds that this is what was asked for then.
	Known    bool
	Follows  int64
	Responds bool
}

// Silence proves that the ovn-controller of a node can't be reached. It is told of what stands
// there, in the order of time, from when a sync was asked for.
type Silence struct {
	Chassis string

	first *Sign
	since time.Time
	// followed says that another one has responded since.
	followed bool
}

// Observe is told what is there now.
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

// WithoutPorts are the other holds.
func WithoutPorts(all []Hold) []Hold {
	return slices.DeleteFunc(slices.Clone(all), func(h Hold) bool { return len(PortHolds([]Hold{h})) > 0 })
}

// PortHolds are the holds that ports make which are bound to the node: a node that can't be
// reached releases none of them.
func PortHolds(all []Hold) (some []Hold) {
	for _, h := range all {
		if h.Derived && h.Name != HoldMember {
			some = append(some, h)
		}
	}
	return some
}
