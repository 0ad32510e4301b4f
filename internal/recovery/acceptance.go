package recovery

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Acceptance is the decision of Juju's leader about which one request for a database is carried out, as published.
type Acceptance struct {
	// Cluster is the old cluster. The acceptance ends once the application has another one.
	Cluster raft.ID `json:"cluster"`
	// Unit and Asked identify the request.
	Unit  string    `json:"unit"`
	Asked time.Time `json:"asked"`
	// By is the leader. At is the time, by its clock, at which it accepted the request, or last asked the request's unit
	// to answer. The unit answers with the acceptance.
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// request identifies the accepted request; empty if there is none.
func (a Acceptance) request() string {
	if a.Unit == "" {
		return ""
	}
	return a.Unit + " " + a.Asked.UTC().Format(time.RFC3339Nano)
}

func (a Acceptance) same(o Acceptance) bool {
	return a.Cluster == o.Cluster && a.request() == o.request() && a.By == o.By && a.At.Equal(o.At)
}

// answerAge is how long an answer counts, by the clock of the unit that asked. It is two intervals of update-status:
// a hook that copies a large database takes minutes.
const answerAge = 10 * time.Minute

// asking reports whether this unit has asked recently enough for answers to count.
func (s State) asking() bool {
	age := s.Now.Sub(s.Accepted.At)
	return s.Accepted.By == s.Unit && age >= 0 && age <= answerAge
}

// Accept returns this unit's acceptance, as Juju's leader, of a unit's request.
func (s State) Accept(unit string) Acceptance {
	return Acceptance{
		Cluster: s.Cluster, Unit: unit, Asked: s.standing()[unit].Asked, By: s.Unit,
		At: s.Now.UTC().Round(0),
	}
}

// accepted returns the accepted request; is reports whether there is one that has not ended.
func (s State) accepted(all map[string]Request) (unit string, r Request, is bool) {
	unit = s.Accepted.Unit
	r, is = all[unit]
	return unit, r, is && s.Accepted.Cluster == s.Cluster && r.Asked.Equal(s.Accepted.Asked)
}

// Accepts reports whether this unit's request was accepted.
func (s State) Accepts() bool {
	unit, _, is := s.accepted(s.standing())
	return is && unit == s.Unit
}

// toAccept returns the unit whose request this unit, as Juju's leader, must accept. If no request is accepted, that is
// the unit of the oldest one. A request that gives up the accepted request's unit replaces it. Otherwise the accepted
// request stays, and is accepted again to ask its unit for an answer. While a unit is being removed, only a request
// that gives up that unit is accepted (R21).
func (s State) toAccept(all map[string]Request) string {
	accepted, r, is := s.accepted(all)
	p := s.peer(s.Accepted.Unit)
	unread := s.Accepted.Cluster == s.Cluster && p != nil && !p.Read
	for _, unit := range inOrder(all) {
		o := all[unit]
		replaces := unit != accepted && s.replaces(unit, o, accepted, r)
		if (replaces || !is && !unread) && len(s.leaving(o)) == 0 {
			return unit
		}
	}
	if is && accepted != s.Unit && !s.asking() && len(s.leaving(r)) == 0 {
		return accepted
	}
	return ""
}

// replaces reports whether the unit's request o replaces r, the accepted request: o gives up the unit of r. If two
// requests give up each other's unit, the later one counts.
func (s State) replaces(unit string, o Request, accepted string, r Request) bool {
	return s.givesUp(o, accepted) && (!s.givesUp(r, unit) || o.Asked.After(r.Asked))
}

func inOrder(all map[string]Request) []string {
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(all[a].Asked.Compare(all[b].Asked), unitname.Compare(a, b))
	})
}

// Before returns the finding that another unit's request precedes r, an operator's request on this unit; is reports
// whether there is such a request. A request whose unit r gives up doesn't count. If no request is accepted and this
// unit already has one, none precedes r: Juju's leader then accepts one of them.
func (s State) Before(r Request) (f finding.Finding, is bool) {
	all := s.standing()
	unit, _, accepted := s.accepted(all)
	_, asked := all[s.Unit]
	for _, other := range inOrder(all) {
		if goes := accepted && other == unit || !accepted && !asked; goes && other != s.Unit && !s.givesUp(r, other) {
			return s.goesFirst(r, other), true
		}
	}
	return f, false
}

// AskedAt returns the time of a new request: this unit's clock, but later than all requests that the new one may have
// to replace. A repeated request keeps its time, unless another request was accepted since.
func (s State) AskedAt(backup string) time.Time {
	all := s.standing()
	unit, _, accepted := s.accepted(all)
	if own, is := all[s.Unit]; is && own.Backup == backup && (!accepted || unit == s.Unit) {
		return own.Asked
	}
	at := s.Now.UTC().Truncate(time.Second)
	for _, r := range all {
		if !at.After(r.Asked) {
			at = r.Asked.Add(time.Second)
		}
	}
	return at
}

// Answer returns this unit's request as it must be published. It has an answer to the request's acceptance as long as
// the new cluster is not made yet, or its file still exists.
func (s State) Answer(r Request) Request {
	r.Heard = Acceptance{}
	if s.Accepts() && (r.New == "" || r.New == s.Staged) {
		r.Heard = s.Accepted
	}
	return r
}

// Publishes returns this unit's copy as it must be published; nil if it has none. A copy with a leader is published
// without its last entry: otherwise each write would cause a hook on all other units.
func (s State) Publishes() *Copy {
	if s.Own == nil {
		return nil
	}
	own := *s.Own
	if own.HasRaftLeader {
		own.Term, own.Index = 0, 0
	}
	if own.Stopped {
		own.For = s.request()
	}
	return &own
}

// request identifies the accepted request if it is for this cluster.
func (s State) request() string {
	if s.Accepted.Cluster != s.Cluster {
		return ""
	}
	return s.Accepted.request()
}

// mayPublish reports whether this unit, as Juju's leader, may replace the old cluster with the new one made for a
// unit's request.
func (s State) mayPublish(unit string, r Request) bool {
	return r.New != "" && s.newClusterConfirmed(unit, r) && s.unitStillVoting(r) == "" && s.unitAhead(unit, r) == "" &&
		len(s.Serving)+len(s.leaving(r)) == 0
}

// unitAhead returns a unit that has published a newer copy, or a leader, after the new cluster was made of another
// unit's copy; empty if there is none. Members that were given up may have come back as a majority and stored more.
func (s State) unitAhead(unit string, r Request) string {
	made := s.copyOf(unit)
	if made == nil || r.Backup != "" {
		return ""
	}
	for _, m := range s.inOrder() {
		c := s.copyOf(m.Unit)
		if c != nil && m.Unit != unit && (c.HasRaftLeader || c.newer(*made)) && !(r.Force && r.givesUp(m)) {
			return m.Unit
		}
	}
	return ""
}

// newClusterConfirmed reports whether a unit still has the new cluster that it has made, which has no other member.
// Published data outlives a machine: the machine must answer now, and a hook must have confirmed recently that the
// file exists.
func (s State) newClusterConfirmed(unit string, r Request) bool {
	if unit == s.Unit {
		return s.Staged == r.New
	}
	p := s.peer(unit)
	return p != nil && p.Reached && s.asking() && r.Heard.same(s.Accepted)
}

// unitStillVoting returns a unit that the request does not give up and whose server may run; empty if there is none.
// The server was stopped when the new cluster was made, but may have stored more since.
func (s State) unitStillVoting(r Request) string {
	units := []string{s.Unit}
	for _, p := range s.Peers {
		if !p.Dying {
			units = append(units, p.Unit)
		}
	}
	for _, unit := range units {
		if c := s.copyOf(unit); c != nil && !c.Stopped && !s.givesUp(r, unit) {
			return unit
		}
	}
	return ""
}

// leaving returns the units that are being removed and that the request does not give up.
func (s State) leaving(r Request) (units []string) {
	if s.Dying && !s.givesUp(r, s.Unit) {
		units = append(units, s.Unit)
	}
	for _, p := range s.Peers {
		if p.Dying && !s.givesUp(r, p.Unit) {
			units = append(units, p.Unit)
		}
	}
	return units
}

// waitsFor returns the finding why this unit waits, whose server is stopped for a unit's request.
func (s State) waitsFor(unit string, r Request) finding.Finding {
	args := finding.Args{Unit: unit}
	switch {
	case r.New == "":
		return s.finds(finding.RecoveryHolds, "", args, s.instead(r, unit))
	case len(s.Serving) > 0 && r.Backup == "":
		args.Address = s.Serving[0]
		return s.finds(finding.RecoveryQuorumReturned, "", args, finding.If(finding.IfLost, command.RemoveByForce(unit)))
	case len(s.Serving) > 0:
		return s.finds(finding.OldClusterServed, "", finding.Args{Address: s.Serving[0]},
			finding.ByHand(finding.StopOldServer))
	case s.JujuLeader && !s.newClusterConfirmed(unit, r):
		start := finding.ByHand(finding.StartMachine)
		if p := s.peer(unit); p != nil && p.Reached {
			start.When = finding.IfThisLasts
		}
		return s.finds(finding.RecoveryUnanswered, "", args, start, s.instead(r, unit))
	}
	if running := s.unitStillVoting(r); running != "" {
		return s.mustStop(r, unit, running)
	}
	f := s.finds(finding.RecoveryNotPublished, "", args)
	f.Remedies = s.unheard()
	return f
}

// unheard returns the remedies if Juju's leader may not see the request: a unit that waits for its removal has no
// peer relation any more, but remains the leader while its agent runs.
func (s State) unheard() []finding.Remedy {
	i := slices.IndexFunc(s.Peers, func(p Peer) bool { return p.Dying })
	if i < 0 || s.JujuLeader {
		return nil
	}
	return []finding.Remedy{finding.If(finding.IfThisLasts, command.Resolved(s.Peers[i].Unit, true))}
}

// Pending returns the finding that this unit, as Juju's leader, accepts a request in its next hook. An action that was
// interrupted leaves such a request behind, and a hook makes the step at once.
func (s State) Pending() (f finding.Finding, is bool) {
	next := s.Next()
	if next.Action != Accept || next.Held { // a held server is found elsewhere
		return f, false
	}
	withdraw := finding.If(finding.ToWithdraw, takeBack(next.For))
	return s.finds(finding.RecoveryNotAccepted, "", finding.Args{Unit: next.For}, withdraw), true
}

// unaccepted returns the finding why this unit's request is not accepted yet. If the machine of Juju's leader is off,
// Juju elects another unit within a minute or two, and that unit's next hook accepts the request.
func (s State) unaccepted() finding.Finding {
	f := s.finds(finding.RecoveryNotAccepted, "", finding.Args{Unit: s.Unit}, s.unheard()...)
	if len(f.Remedies) == 0 {
		f.Remedies = []finding.Remedy{finding.If(finding.IfThisLasts, command.Client("status", unitname.Application(s.Unit)))}
	}
	return f
}
