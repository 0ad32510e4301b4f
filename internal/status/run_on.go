package status

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Views are the clusters that this unit can see, as it sees them.
type Views map[ovndb.Database]raft.View

func viewsOf(r observe.Report) Views {
	all := Views{}
	for _, c := range r.Clusters {
		if c.Condition == ovndb.Serving {
			all[c.Database] = c.View
		}
	}
	return all
}

// evidence is how sure it is that a unit can run an action on its servers, the best first.
type evidence int

const (
	isUp     evidence = iota // a member that is up
	isHeard                  // without a quorum: its server has a connection to this unit's
	notHeard                 // without a quorum: it has none, or this unit is the one that is cut off
	notKnown                 // the unit has no known member
	isDown                   // a member that is down
)

// runOn is the unit to run a printed command on: this one, unless this one is being removed and another stays. It is
// never one of not, which the command is about, nor one that is known to be down. If no unit is left, it is Juju's word
// for the leader.
func runOn(m observe.Application, clusters Views, not ...string) string {
	known := slices.Concat([]string{m.Unit}, m.Others(), m.Published.Names())
	best, least := "", 0
	for i, unit := range known {
		if slices.Contains(not, unit) || slices.Contains(known[:i], unit) || unit != m.Unit && !m.Exists(unit) {
			continue
		}
		e := evidenceOf(m, clusters, unit)
		if e == isDown {
			continue
		}
		score := 2 * int(e)
		if m.Dying(unit) {
			score++
		}
		if best == "" || score < least {
			best, least = unit, score
		}
	}
	if best == "" {
		return unitname.Application(m.Unit) + "/leader"
	}
	return best
}

// otherUnit is the unit to send an operator to, away from this one.
func otherUnit(m observe.Application, clusters Views) string { return runOn(m, clusters, m.Unit) }

// evidenceOf is the weakest of what the clusters say.
func evidenceOf(m observe.Application, clusters Views, unit string) evidence {
	if len(clusters) == 0 {
		return notKnown
	}
	weakest := isUp
	for _, d := range slices.Sorted(maps.Keys(clusters)) {
		weakest = max(weakest, evidenceIn(m, d, clusters[d], unit))
	}
	return weakest
}

func evidenceIn(m observe.Application, d ovndb.Database, v raft.View, unit string) evidence {
	q := v.Quorum()
	holds := q.Holds() || q.Held
	for _, p := range v.Peers() {
		id := m.Published[unit][d].Server
		switch mine := p.Self && unit == m.Unit || id != "" && p.Is(id); {
		case !mine:
		case holds && (p.Up || p.OneWay):
			return isUp
		case holds:
			return isDown
		case p.Self || v.Status.Hears(p.Short):
			return isHeard
		default:
			return notHeard
		}
	}
	return notKnown
}
