// Package status says how a unit and its clusters are, and what to do about it: the
// status line, warnings, remedies, and the commands that are printed. Its functions
// decide and print by what package observe has found, and ask nothing.
package status

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// RejoinCommand is the command that has a new server of this unit join in the place of one
// that can't be started any more: action rejoin on this unit, or where that would not know
// which member it was, the kick on another unit. It is empty where there is no other unit, or
// the server is not known.
func RejoinCommand(m observe.Application, servers map[ovndb.Database]observe.ServerState, d ovndb.Database) string {
	id := m.Published[m.Unit][d].Server
	if id == "" || len(m.Others()) == 0 {
		return ""
	}
	if _, full := raft.ParseID(string(id)); full {
		return m.Version.Render(juju.Command{Unit: m.Unit, Action: "rejoin", Params: []juju.Param{{Key: "database", Value: d.Short()}, {Key: "i-really-mean-it", Value: "true"}}})
	}
	clusters := Views{}
	if other := servers[d.Other()]; other.Condition == ovndb.Serving {
		clusters[other.Database] = raft.View{Status: other.Status}
	}
	permit := raft.PermitUnitInModel
	if servers[d].Condition == ovndb.Serving {
		permit = raft.PermitForce
	}
	return KickCommand(m, OtherUnit(m, clusters), shortened(map[ovndb.Database]string{d: string(id)}), permit)
}

// recoveryPlanCommand is the line for a unit that knows no leader: which unit sees one, how
// far each copy goes, and what a recovery would do. It changes nothing, and runs on the unit
// itself: without a quorum no other one is known to be up, while what they have published
// is read from Juju. Where this unit is the one that is cut off, it says so. A unit that is being
// removed makes no new cluster: there it is the line for one that stays and is heard, or else what keeps its data.
func recoveryPlanCommand(m observe.Application, clusters Views) string {
	on := m.Unit
	if m.Dying(m.Unit) {
		others := m.Others()
		heard := slices.IndexFunc(others, func(unit string) bool { return !m.Dying(unit) && evidenceOf(m, clusters, unit) <= isHeard })
		if heard < 0 {
			return m.Version.Render(juju.Command{Unit: m.Unit, Action: "backup"})
		}
		on = others[heard]
	}
	return m.Version.Render(juju.Command{Unit: on, Action: "recover", Params: []juju.Param{{Key: "dry-run", Value: "true"}}})
}

// KickCommand is the line that kicks a member of one or of both databases. What
// it says, the action accepts: a member that is up, or whose unit is still in
// the model, needs a permit.
func KickCommand(m observe.Application, on string, targets map[ovndb.Database]string, permit raft.Permit) string {
	c := juju.Command{Unit: on, Action: "kick"}
	for _, d := range []ovndb.Database{ovndb.SB, ovndb.NB} { // the order of the specification's example
		if id := targets[d]; id != "" {
			c.Params = append(c.Params, juju.Param{Key: d.Short() + "-identity", Value: id, Text: true})
		}
	}
	if permit != raft.PermitNone {
		c.Params = append(c.Params, juju.Param{Key: string(permit), Value: "true"})
	}
	c.Params = append(c.Params, juju.Param{Key: "i-really-mean-it", Value: "true"})
	return m.Version.Render(c)
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

// kickUnitCommand kicks whatever a unit has, in both databases.
func kickUnitCommand(m observe.Application, on, unit string, permit raft.Permit) string {
	c := juju.Command{Unit: on, Action: "kick", Params: []juju.Param{{Key: "unit", Value: unit}}}
	if permit != raft.PermitNone {
		c.Params = append(c.Params, juju.Param{Key: string(permit), Value: "true"})
	}
	c.Params = append(c.Params, juju.Param{Key: "i-really-mean-it", Value: "true"})
	return m.Version.Render(c)
}

// shortened are the IDs in brief, for a status, of which Juju shows 120 characters.
func shortened(targets map[ovndb.Database]string) map[ovndb.Database]string {
	short := map[ovndb.Database]string{}
	for d, id := range targets {
		short[d] = raft.ID(id).Brief()
	}
	return short
}

// StatusCommand is the line that shows the clusters as a unit sees them.
func StatusCommand(m observe.Application, on string) string {
	return m.Version.Render(juju.Command{Unit: on, Action: "cluster-status"})
}
