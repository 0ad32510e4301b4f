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

// Acceptance is what Juju's leader publishes of the one request for a database that is carried out.
type Acceptance struct {
	// Cluster is the one that is given up; with any other as the application's, the acceptance is over.
	Cluster raft.ID `json:"cluster"`
	// Unit and Asked say which request it is.
	Unit  string    `json:"unit"`
	Asked time.Time `json:"asked"`
	// By is the leader, and At when it has accepted, or last asked whether the unit is there, by its clock: the unit
	// answers with the acceptance.
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// request names the request that is accepted; empty for none.
func (a Acceptance) request() string {
	if a.Unit == "" {
		return ""
	}
	return a.Unit + " " + a.Asked.UTC().Format(time.RFC3339Nano)
}

func (a Acceptance) same(o Acceptance) bool {
	return a.Cluster == o.Cluster && a.request() == o.request() && a.By == o.By && a.At.Equal(o.At)
}

// answerAge is for how long an answer counts, by the clock of the unit that has asked. It is
// two intervals of update-status, 5 minutes each: hooks that a change of a relation's data
// calls for come within seconds, and one that copies a large database may take minutes.
const answerAge = 10 * time.Minute

// asking reports whether this unit has asked, and not too long ago for answers to count.
func (s State) asking() bool {
	age := s.Now.Sub(s.Accepted.At)
	return s.Accepted.By == s.Unit && age >= 0 && age <= answerAge
}

// Accept is this unit's acceptance, as Juju's leader, of a unit's request.
func (s State) Accept(unit string) Acceptance {
	return Acceptance{
		Cluster: s.Cluster, Unit: unit, Asked: s.standing()[unit].Asked, By: s.Unit,
		At: s.Now.UTC().Round(0),
	}
}

// accepted returns the request that is accepted and not over; is reports whether there is one.
func (s State) accepted(all map[string]Request) (unit string, r Request, is bool) {
	unit = s.Accepted.Unit
	r, is = all[unit]
	return unit, r, is && s.Accepted.Cluster == s.Cluster && r.Asked.Equal(s.Accepted.Asked)
}

// Accepts reports whether this unit's request is the one that is accepted.
func (s State) Accepts() bool {
	unit, _, is := s.accepted(s.standing())
	return is && unit == s.Unit
}

// toAccept is the unit whose request this unit, as Juju's leader, has to accept: of several the one that was asked
// first; in the place of an accepted one only one that gives up its unit; or the accepted one, to ask again whether its
// unit is there. None is accepted while a unit that it does not give up is being removed (R21).
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

// replaces reports whether the request o of a unit goes before r, which is accepted of another one: an operator has
// said that that one is lost. Of two that give each other up the later one counts.
func (s State) replaces(unit string, o Request, accepted string, r Request) bool {
	return s.givesUp(o, accepted) && (!s.givesUp(r, unit) || o.Asked.After(r.Asked))
}

// inOrder are the units with requests, in the order in which these were asked for.
func inOrder(all map[string]Request) []string {
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(all[a].Asked.Compare(all[b].Asked), unitname.Compare(a, b))
	})
}

// Before returns the finding that the request of another unit goes before r, which an operator asks for on this
// unit, and whether there is such a request. A request whose unit r gives up doesn't count. Without an accepted
// request, none goes before r if this unit has one already: Juju's leader then accepts one of them.
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

// AskedAt is when a request is asked for, by this unit's clock, and after those that it may have to replace. One that
// is typed again is the same, unless another was accepted meanwhile.
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

// Answer returns this unit's request as it is published: with an answer to the unit that has accepted it, if the
// file of the new cluster is still beside this unit's file, or is yet to be made.
func (s State) Answer(r Request) Request {
	r.Heard = Acceptance{}
	if s.Accepts() && (r.New == "" || r.New == s.Staged) {
		r.Heard = s.Accepted
	}
	return r
}

// Publishes returns this unit's copy as it is published; nil if it has none. The last entry of a copy that has a leader
// is left out: each write would cause a hook on all other units, and their data a hook on this one.
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

// request names the accepted request, if it is of this cluster.
func (s State) request() string {
	if s.Accepted.Cluster != s.Cluster {
		return ""
	}
	return s.Accepted.request()
}

// mayPublish reports whether this unit, as Juju's leader, puts the new cluster of a unit's request in the place of the
// old one.
func (s State) mayPublish(unit string, r Request) bool {
	return r.New != "" && s.newClusterConfirmed(unit, r) && s.unitStillVoting(r) == "" && s.unitAhead(unit, r) == "" &&
		len(s.Serving)+len(s.leaving(r)) == 0
}

// unitAhead is a unit that has said since the new cluster was made of a unit's copy that its own goes further, or that
// it has a leader: a majority that was given up, and came back, may have stored more. It is empty if there is none.
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

// newClusterConfirmed reports whether a unit is seen to have the new cluster that it has made, which has no
// other member. What it has published outlives its machine and its disk: so its machine has to
// answer now, and a hook of it must have answered, not long ago, that the file is there.
func (s State) newClusterConfirmed(unit string, r Request) bool {
	if unit == s.Unit {
		return s.Staged == r.New
	}
	p := s.peer(unit)
	return p != nil && p.Reached && s.asking() && r.Heard.same(s.Accepted)
}

// unitStillVoting is a unit whose server the request does not give up and that may run, though it was
// stopped when the new cluster was made: it may have stored more since. It is empty where there
// is none.
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

// leaving are the units that are being removed and that the request does not give up.
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

// waitsFor is what this unit, whose server is stopped for the request of a unit, waits for.
func (s State) waitsFor(unit string, r Request) finding.Finding {
	args := finding.Args{Unit: unit}
	switch {
	case r.New == "":
		return s.finds(finding.RecoveryHolds, "", args, s.instead(r, unit)...)
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
		return s.finds(finding.RecoveryUnanswered, "", args, append([]finding.Remedy{start}, s.instead(r, unit)...)...)
	}
	if running := s.unitStillVoting(r); running != "" {
		return s.mustStop(r, unit, running)
	}
	f := s.finds(finding.RecoveryNotPublished, "", args)
	f.Remedies = s.unheard()
	return f
}

// unheard is the way out if Juju's leader may not hear of a recovery: without the peer relation a unit whose removal
// waits hears of none, and leads for as long as its agent lives.
func (s State) unheard() []finding.Remedy {
	i := slices.IndexFunc(s.Peers, func(p Peer) bool { return p.Dying })
	if i < 0 || s.JujuLeader {
		return nil
	}
	return []finding.Remedy{finding.If(finding.IfThisLasts, command.Resolved(s.Peers[i].Unit, true))}
}

// unaccepted is what this unit's request waits for before it is accepted. If the machine of Juju's leader is off, Juju
// elects another unit within a minute or two, whose next hook accepts it.
func (s State) unaccepted() finding.Finding {
	f := s.finds(finding.RecoveryNotAccepted, "", finding.Args{Unit: s.Unit}, s.unheard()...)
	if len(f.Remedies) == 0 {
		f.Remedies = []finding.Remedy{finding.If(finding.IfThisLasts, command.Client("status", unitname.Application(s.Unit)))}
	}
	return f
}
