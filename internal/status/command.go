// Package status judges the state of a unit and its clusters. It returns findings with the commands that an operator
// types. Its input is what package observe has found; it does no I/O.
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

// RejoinCommand is the command that replaces this unit's server, which can't be started any more, by a new one: the
// action rejoin, or a kick on another unit if this one knows only a part of its server's ID. It is the zero value if
// there is no other unit, or nothing is known of the server.
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

// recoveryPlanCommand is for a unit that knows no leader: it shows which unit sees one, how far each copy goes, and
// what a recovery would do. It runs on this unit: without a quorum no other one is known to be up. A unit that is being
// removed makes no new cluster: then the command is for one that stays and is heard, or else it is a backup.
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

// KickCommand kicks a member of one or of both databases. A member that is up, or whose unit is still in the model,
// needs a permit.
func KickCommand(on string, targets map[ovndb.Database]string, permit raft.Permit) command.Command {
	var params []command.Param
	for _, d := range []ovndb.Database{ovndb.SB, ovndb.NB} { // the order of the specification's example
		if id := targets[d]; id != "" {
			params = append(params, command.Param{Key: d.Short() + "-identity", Value: id, Text: true})
		}
	}
	return kick(on, permit, params...)
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

// shortened are the IDs in brief: Juju shows only 120 characters of a status.
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
