// Package status judges how a unit and its clusters are: it returns findings with the commands that
// an operator types. Its functions decide by what package observe has found, and ask nothing.
package status

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// confirmed is the parameter without which no action changes a membership or makes a new cluster.
var confirmed = command.Param{Key: "i-really-mean-it", Value: "true"}

// RejoinCommand is the command that has a new server of this unit join in the place of one
// that can't be started any more: action rejoin on this unit, or, if that would not know
// which member it was, the kick on another unit. It is the zero value if there is no other unit, or
// the server is not known.
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

// recoveryPlanCommand is for a unit that knows no leader: it shows which unit sees one, how
// far each copy goes, and what a recovery would do. It changes nothing, and runs on the unit
// itself: without a quorum no other one is known to be up, while what they have published
// is read from Juju. A unit that is being removed makes no new cluster: there it is for one that
// stays and is heard, or else the command that keeps its data.
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

// KickCommand kicks a member of one or of both databases. The action accepts it as it is: a member
// that is up, or whose unit is still in the model, needs a permit.
func KickCommand(on string, targets map[ovndb.Database]string, permit raft.Permit) command.Command {
	var params []command.Param
	for _, d := range []ovndb.Database{ovndb.SB, ovndb.NB} { // the order of the specification's example
		if id := targets[d]; id != "" {
			params = append(params, command.Param{Key: d.Short() + "-identity", Value: id, Text: true})
		}
	}
	return kick(on, permit, params...)
}

// kickUnitCommand kicks whatever a unit has, in both databases.
func kickUnitCommand(on, unit string, permit raft.Permit) command.Command {
	return kick(on, permit, command.Param{Key: "unit", Value: unit})
}

func kick(on string, permit raft.Permit, params ...command.Param) command.Command {
	if permit != raft.PermitNone {
		params = append(params, command.Param{Key: string(permit), Value: "true"})
	}
	return command.Command{Unit: on, Action: "kick", Params: append(params, confirmed)}
}

// Describe names a member and its unit.
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

// shortened are the IDs in brief, for a status, of which Juju shows 120 characters.
func shortened(targets map[ovndb.Database]string) map[ovndb.Database]string {
	short := map[ovndb.Database]string{}
	for d, id := range targets {
		short[d] = raft.ID(id).Brief()
	}
	return short
}

// StatusCommand shows the clusters as a unit sees them.
func StatusCommand(on string) command.Command {
	return command.Command{Unit: on, Action: "cluster-status"}
}
