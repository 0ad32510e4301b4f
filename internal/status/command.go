// Package status judges the state of a unit and its clusters. It returns findings with the commands that an operator
// types. Its input is the result of package observe; it does no I/O.
package status

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// confirmed is the parameter without which no action changes a membership or makes a new cluster.
var confirmed = command.Param{Key: "i-really-mean-it", Value: "true"}

// RejoinCommand returns the command that replaces this unit's server if it can't be started any more: the action
// rejoin, or a kick on another unit if this one knows only a part of its server's ID. It is zero if there is no other
// unit, or the ID is unknown.
func RejoinCommand(m observe.Application, servers map[ovndb.Database]observe.ServerState,
	d ovndb.Database,
) command.Command {
	id := m.Published[m.Unit][d].Server
	if id == "" || len(m.Others()) == 0 {
		return command.Command{}
	}
	if _, full := raft.ParseID(string(id)); full {
		return command.Command{
			Unit: m.Unit, Action: "rejoin",
			Params: []command.Param{{Key: "database", Value: d.Short()}, confirmed},
		}
	}
	clusters := Views{}
	if other := servers[d.Other()]; other.Condition == ovndb.Serving {
		clusters[other.Database] = raft.View{Status: other.Status}
	}
	permit := raft.PermitUnitInModel
	if servers[d].Condition == ovndb.Serving {
		permit = raft.PermitForce
	}
	return KickCommand(otherUnit(m, clusters), shortened(map[ovndb.Database]string{d: string(id)}), permit)
}

// recoveryPlanCommand returns the command for a unit that knows no leader. It shows which unit knows one, how far
// each copy goes, and the effects of a recovery. It runs on this unit: without a quorum no other unit is known to be
// up. A unit that is being removed makes no new cluster; in its place the command runs on a staying unit whose server
// is connected, or else it makes a backup.
func recoveryPlanCommand(m observe.Application, clusters Views) command.Command {
	on := m.Unit
	if m.Dying(m.Unit) {
		others := m.Others()
		heard := slices.IndexFunc(others, func(unit string) bool {
			return !m.Dying(unit) && evidenceOf(m, clusters, unit) <= isHeard
		})
		if heard < 0 {
			return command.Command{Unit: m.Unit, Action: "backup"}
		}
		on = others[heard]
	}
	return command.Command{Unit: on, Action: "recover", Params: []command.Param{{Key: "dry-run", Value: "true"}}}
}

// KickCommand returns the kick of a member of one or of both databases. A member that is up, or whose unit is still in
// the model, needs a permit.
func KickCommand(on string, targets map[ovndb.Database]string, permit raft.Permit) command.Command {
	var params []command.Param
	for _, d := range []ovndb.Database{ovndb.SB, ovndb.NB} { // the order of the specification's example
		if id := targets[d]; id != "" {
			params = append(params, command.Param{Key: d.Short() + "-identity", Value: id, Text: true})
		}
	}
	return kick(on, permit, params...)
}

// KickUnit returns the kick of all members of a unit.
func KickUnit(on, unit string, permit raft.Permit) command.Command {
	return kick(on, permit, command.Param{Key: "unit", Value: unit})
}

func kick(on string, permit raft.Permit, params ...command.Param) command.Command {
	if permit != raft.PermitNone {
		params = append(params, command.Param{Key: string(permit), Value: "true"})
	}
	return command.Command{Unit: on, Action: "kick", Params: append(params, confirmed)}
}

// Describe returns a member's identity and unit.
func Describe(m observe.Application, d ovndb.Database, p raft.Peer) string {
	o := m.Owner(d, p)
	switch {
	case o.Unit != "":
		return fmt.Sprintf("%s (%s)", p.Short, o.Unit)
	case o.Was != "":
		return fmt.Sprintf("%s (was %s)", p.Short, o.Was)
	}
	return fmt.Sprintf("%s at %s (unknown unit)", p.Short, p.Address)
}

// shortened shortens the IDs: Juju shows only 120 characters of a status.
func shortened(targets map[ovndb.Database]string) map[ovndb.Database]string {
	short := map[ovndb.Database]string{}
	for d, id := range targets {
		short[d] = raft.ID(id).Brief()
	}
	return short
}

// StatusCommand returns the command that shows the clusters as a unit sees them.
func StatusCommand(on string) command.Command {
	return command.Command{Unit: on, Action: "cluster-status"}
}

// Views are this unit's views of the clusters that it can see.
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

// evidence is how certain it is that a unit can run an action on its servers, the most certain first.
type evidence int

const (
	isUp     evidence = iota // a member that is up
	isHeard                  // no quorum: its server is connected to this unit's
	notHeard                 // no quorum: it is not connected, or this unit is cut off
	notKnown                 // the unit has no known member
	isDown                   // a member that is down
)

// runOn returns the unit on which to run a printed command: this one, unless it is being removed and another stays.
// It returns neither a unit in not, the targets of the command, nor a unit that is known to be down. If no unit is
// left, it returns Juju's word for the leader.
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

// otherUnit returns the best other unit on which to run a command.
func otherUnit(m observe.Application, clusters Views) string { return runOn(m, clusters, m.Unit) }

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
