package maintenance

import (
	"time"
)

// Bounds of the pause between two requests for one proof. Each request makes ovn-northd compute everything again.
// firstProofPause is also how long the command that began a drain has to prove it before another process asks.
const (
	firstProofPause = 30 * time.Second
	lastProofPause  = 10 * time.Minute
	// ownProofPause is the first pause if the command itself asks.
	ownProofPause = time.Second
)

// proof proves a drain once nothing is left. A chassis that has claimed a gateway may not carry it yet: it must follow
// an nb_cfg that any client has raised after the ranks were written and the gateway was claimed. If ovn-northd and the
// chassis follow late, nb_cfg need not be raised again. proof needs every look at which nothing is left and no chassis
// that took a gateway lags, in order of time.
type proof struct {
	// own is set for the drain command: it does not wait for another process to ask.
	own    bool
	proved bool
	claims map[string]claim // the claims at the first look, by port
	moved  bool
	askAt  time.Time
	pause  time.Duration
}

// claim is the chassis that has a gateway, and the last nb_cfg that it may have been asked to follow before it claimed
// the gateway.
type claim struct {
	chassis string
	before  int64
}

// Claims has the chassis that have claimed the gateways, by port. Asked is the nb_cfg of NB, which all chassis are
// asked to follow; Followed is that of SB, which ovn-northd has followed. NB was read first.
type Claims struct {
	Hosts           map[string]string
	Asked, Followed int64
}

// move begins the proof again after gateways have moved: it does not hold for these.
func (f *proof) move() { *f = proof{own: f.own, moved: true, askAt: f.askAt, pause: f.pause} }

func (f *proof) begin(hosts map[string]string, seen int64, now time.Time) {
	f.claims = make(map[string]claim, len(hosts))
	for port, chassis := range hosts {
		f.claims[port] = claim{chassis, seen}
	}
	if begun := now.Add(firstProofPause); !f.moved && !f.own && f.askAt.Before(begun) {
		f.askAt = begun
	}
}

func (f *proof) look(s Claims, now time.Time) (ask bool) {
	if f.proved {
		return false
	}
	seen := max(s.Asked, s.Followed)
	if f.claims == nil {
		f.begin(s.Hosts, seen, now)
	}
	open, asked := false, true
	for port, c := range f.claims {
		chassis, there := s.Hosts[port]
		switch {
		case !there: // the port was deleted, or the node is no longer a candidate
			delete(f.claims, port)
		case chassis != c.chassis || s.Asked < c.before: // it has moved on, or an older database was restored
			f.claims[port] = claim{chassis, seen}
			open, asked = true, false
		case s.Followed <= c.before || s.Followed > s.Asked: // an nb_cfg that is ahead was not requested
			open, asked = true, asked && s.Asked > c.before
		}
	}
	switch {
	case !open:
		*f = proof{own: f.own, proved: true, askAt: f.askAt}
		return false
	case asked || now.Before(f.askAt):
		return false
	}
	first := firstProofPause
	if f.own {
		first = ownProofPause
	}
	f.pause = min(max(first, 2*f.pause), lastProofPause)
	f.askAt = now.Add(f.pause)
	return true
}

// takeOverAfter is how long the command that began a drain may make no progress before the agent continues the drain.
// The command may still run, for instance if ovn-northd takes longer for a batch. That is safe: each batch is a
// transaction that fails if its rows have changed since it was planned, and the ranks to put back are the ranks before
// the first batch.
const takeOverAfter = 10 * time.Second

// follower decides when a process that did not begin a drain continues it. It needs every look, in order of time.
type follower struct {
	known bool
	left  int
	since time.Time
}

// look takes the number of gateways that are left, and reports whether to continue now: if gateways came back to a node
// that had none left, or if there was no progress for a while. Otherwise next is when to look again; it is zero if
// there is no need to look before a change.
func (f *follower) look(left int, now time.Time) (due bool, next time.Time) {
	before, known := f.left, f.known
	f.known, f.left = true, left
	switch {
	case left == 0:
		return false, time.Time{}
	case known && before == 0: // Neutron keeps choosing the node
		f.since = now
		return true, time.Time{}
	case !known || left < before:
		f.since = now
	case now.Sub(f.since) >= takeOverAfter:
		f.since = now
		return true, time.Time{}
	}
	return false, f.since.Add(takeOverAfter)
}

// Bounds of the pause between signs of life: each makes ovn-northd compute everything again.
const (
	firstRecheck = 5 * time.Second
	lastRecheck  = 10 * time.Minute
)

// recheck decides when a drain asks every ovn-controller for another sign of life. If gateways are on no chassis for
// longer than a failover takes (up to 4 s), the chassis that got them may have died. recheck needs every look, in order
// of time.
type recheck struct {
	since time.Time
	pause time.Duration
}

func (r *recheck) due(p Progress, now time.Time) bool {
	switch {
	case len(p.Unbound) == 0:
		*r = recheck{}
		return false
	case r.since.IsZero():
		r.since, r.pause = now, firstRecheck
		return false
	case now.Sub(r.since) < r.pause:
		return false
	}
	r.since, r.pause = now, min(2*r.pause, lastRecheck)
	return true
}

// unreachableFor is how long an ovn-controller must not follow a request before it counts as unreachable. Slow and
// restarting ones follow long before.
const unreachableFor = 180 * time.Second

// Verdict is the judgement about an ovn-controller that was asked for a sign of life.
type Verdict int

// The verdicts.
const (
	Undecided Verdict = iota
	// Reachable: it has followed, or its row has changed since the request.
	Reachable
	// Unreachable: it has followed nothing for 180 s, while others have.
	Unreachable
	// Unprovable: perhaps no chassis can reach the Southbound database.
	Unprovable
)

// Sign is the state of an ovn-controller in Chassis_Private.
type Sign struct {
	Chassis string
	// Known reports whether there is a row. Follows is its nb_cfg; Responds reports whether that was the requested nb_cfg
	// at the time.
	Known    bool
	Follows  int64
	Responds bool
}

// Silence proves that a node's ovn-controller is unreachable. Pass every look at Chassis_Private to [Silence.Observe],
// in order of time, beginning with the request for a sign of life.
type Silence struct {
	Chassis string

	first *Sign
	since time.Time
	// followed reports whether another ovn-controller has responded since.
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

// OfPorts reports whether the hold is about bound ports: an unreachable node does not release them.
func (h Hold) OfPorts() bool { return h.Derived && h.Name != HoldMember }
