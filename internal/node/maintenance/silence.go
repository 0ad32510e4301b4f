package maintenance

import "time"

// unreachableFor is how long an ovn-controller that was asked must not follow until it counts as unreachable. Slow and
// restarting ones follow long before.
const unreachableFor = 180 * time.Second

// Verdict is the judgement about an ovn-controller that was asked for a sign of life.
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

// Sign is the state of an ovn-controller in Chassis_Private.
type Sign struct {
	Chassis string
	// Known reports whether there is a row. Follows is its nb_cfg, and Responds whether that is the nb_cfg that was asked
	// for at that time.
	Known    bool
	Follows  int64
	Responds bool
}

// Silence proves that a node's ovn-controller is unreachable. Pass every look at Chassis_Private to [Silence.Observe],
// in order of time, from the request for a sign of life on.
type Silence struct {
	Chassis string

	first *Sign
	since time.Time
	// followed reports whether another one has responded since.
	followed bool
}

// Observe takes the signs of all ovn-controllers, and returns the verdict.
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

// OfPorts reports whether the hold is of bound ports: an unreachable node does not release them.
func (h Hold) OfPorts() bool { return h.Derived && h.Name != HoldMember }
