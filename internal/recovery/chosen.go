package recovery

import (
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// askedAge is for how long an answer counts, by the clock of the unit that has asked. It is
// two intervals of update-status, 5 minutes each: hooks that a change of a relation's data
// calls for come within seconds, and one that copies a large database may take minutes.
const askedAge = 10 * time.Minute

// asking says whether this unit has asked, and not too long ago for answers to count.
func (s State) asking() bool {
	age := s.Now.Sub(s.Asked)
	return !s.Asked.IsZero() && age >= 0 && age <= askedAge
}

// mustAsk says whether this unit, which leads, is to ask whether units are there: as soon
// as another one's request stands, so that most have answered by the time that they have
// made their clusters.
func (s State) mustAsk(all map[string]Request) bool {
	_, own := all[s.Unit]
	return !s.asking() && (len(all) > 1 || len(all) == 1 && !own)
}

// Answer is this unit's request as the others are told it: with an answer to each unit that
// asks, where the new cluster still stands beside this unit's file, or is yet to be made.
func (s State) Answer(r Request) Request {
	r.Heard = nil
	for _, p := range s.Peers {
		if p.Asks.IsZero() || r.New != "" && r.New != s.Staged {
			continue
		}
		if r.Heard == nil {
			r.Heard = map[string]time.Time{}
		}
		r.Heard[p.Unit] = p.Asks
	}
	return r
}

// chosen is the unit whose new cluster the Juju leader publishes: of several that are there the
// first by name, and once one is the application's, the others' requests are over.
func (s State) chosen(all map[string]Request) string {
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		r := all[unit]
		if r.New != "" && s.newClusterConfirmed(unit, r) && s.overriddenBy(unit, all) == "" && s.unitStillVoting(r) == "" {
			return unit
		}
	}
	return ""
}

// newClusterConfirmed says whether a unit is seen to have the new cluster that it has made, which has no
// other member. What it has published outlives its machine and its disk: so its machine has to
// answer now, and a hook of it must have answered, not long ago, that the file is there.
func (s State) newClusterConfirmed(unit string, r Request) bool {
	if unit == s.Unit {
		return s.Staged == r.New
	}
	p := s.peer(unit)
	return p != nil && p.Reached && s.asking() && r.Heard[s.Unit].Equal(s.Asked)
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

// overriddenBy is a unit whose request gives up the one that is named, whose own request is
// then over: an operator has said that it is lost. Of two that give each other up the later
// one counts, else the first by name. It is empty where there is none.
func (s State) overriddenBy(unit string, all map[string]Request) string {
	r := all[unit]
	for _, other := range slices.Sorted(maps.Keys(all)) {
		o := all[other]
		if other == unit || !s.givesUp(o, unit) {
			continue
		}
		if later := o.Asked.Compare(r.Asked); !s.givesUp(r, other) || later > 0 || later == 0 && other < unit {
			return other
		}
	}
	return ""
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
		return s.finds(finding.OldClusterServed, "", finding.Args{Address: s.Serving[0]}, finding.ByHand(finding.StopOldServer))
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
	// Without the peer relation a unit whose removal waits hears of no recovery, and leads for as long as its agent lives.
	if i := slices.IndexFunc(s.Peers, func(p Peer) bool { return p.Dying }); i >= 0 && !s.JujuLeader {
		f.Remedies = []finding.Remedy{finding.If(finding.IfThisLasts, command.Resolved(s.Peers[i].Unit, true))}
	}
	return f
}
