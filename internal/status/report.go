package status

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// tolerance says how many failures the cluster survives from now on.
func tolerance(c observe.Cluster, m observe.Application) string {
	name := c.Database.Short()
	switch t := c.Quorum.Tolerance(); {
	case c.Condition != ovndb.Serving:
		return fmt.Sprintf("%s: not known (%s)", name, c.Condition)
	case c.Status.State == raft.JoiningCluster:
		return name + ": not known (joining)"
	case healthOf(c, m) == noQuorum:
		return fmt.Sprintf("%s: no quorum as seen from this unit (%s)", name, leaderText(c, m))
	case t < 0 && healthOf(c, m) != working:
		return fmt.Sprintf("%s: not known (%s)", name, leaderText(c, m))
	default:
		return fmt.Sprintf("%s: %d more of %d members may fail (%d up)", name, max(t, 0), c.Quorum.Members, c.Quorum.Up)
	}
}

// Tolerance is that of both clusters, a line each.
func Tolerance(r observe.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		all = append(all, tolerance(c, r.Application))
	}
	return all
}

// Warnings lists what an operator should know, most pressing first.
func Warnings(r observe.Report) []string {
	var all []string
	if text := noQuorumText(r); text != "" {
		all = append(all, text)
	}
	for _, c := range r.Clusters {
		name := c.Database.Short()
		if c.Condition != ovndb.Serving {
			all = append(all, name+": "+c.ServerState.Text())
			continue
		}
		if _, text := problem(c, r.Application); text != "" && healthOf(c, r.Application) != noQuorum {
			all = append(all, text)
		}
		for _, text := range closedPorts(r.Application, c) {
			all = append(all, name+": "+text)
		}
		if c.Damage != "" {
			all = append(all, fmt.Sprintf("%s: the file of this unit's server lacks entries, so it must not be stopped (%s)", name, c.Damage))
		}
		for _, row := range c.Rows {
			all = append(all, warnings(r, c, row)...)
		}
		switch n := len(c.Rows); {
		case c.Status.State == raft.JoiningCluster:
		case n < 3:
			all = append(all, fmt.Sprintf("%s: %d members; fewer than 3 tolerate no failure", name, n))
		case n%2 == 0:
			all = append(all, fmt.Sprintf("%s: %d members; an even number tolerates no more failures than %d", name, n, n-1))
		}
		for _, line := range c.Status.Unknown {
			all = append(all, fmt.Sprintf("%s: ovsdb-server reports a line that this charm does not know: %q", name, line.Text))
		}
	}
	all = append(all, foreignClusters(r)...)
	all = append(all, supersedesItself(r)...)
	if text := notInNewClusterText(r); text != "" {
		all = append(all, text)
	}
	all = append(all, r.Application.Unpublished()...)
	return append(all, r.Application.Problems...)
}

// warnings tells apart the ways in which a member can be wrong.
func warnings(r observe.Report, c observe.Cluster, row observe.Row) []string {
	var all []string
	name := c.Database.Short()
	member := fmt.Sprintf("%s: %s at %s, %s,", name, row.Short, row.Address, row.Label())
	switch {
	case row.Up || c.Quorum.Up == 0 && !c.Quorum.Held:
	case row.OneWay:
		all = append(all, fmt.Sprintf("%s does not count: %s", member, row.Why))
	default:
		all = append(all, fmt.Sprintf("%s is down: %s", member, row.Why))
	}
	if owner := wrongDatabase(r, c.Database, row); owner != "" {
		all = append(all, fmt.Sprintf("%s is a server of %s: it votes here and holds nothing", member, owner))
	} else if row.Owner.Stale {
		all = append(all, member+" is stale: it belongs to no unit of the model"+UpWithoutUnit(row.Runs()))
	}
	if row.Extra != "" {
		all = append(all, fmt.Sprintf("%s has text in its line that this charm does not know: %q", member, row.Extra))
	}
	for _, other := range c.Rows {
		if other.Address == row.Address && other.Short < row.Short {
			all = append(all, fmt.Sprintf("%s: two members have the address %s: %s (%s) and %s (%s)", name, row.Address, other.Short, other.Label(), row.Short, row.Label()))
		}
	}
	return all
}

// UpWithoutUnit says what a member that is up does without a unit: nothing has stopped its
// services, and ovn-northd needs no membership to write.
func UpWithoutUnit(up bool) string {
	if !up {
		return ""
	}
	return "; it is up: its servers and its ovn-northd keep running until its machine is off"
}

// wrongDatabase recognises a server of the other database, which ovsdb-server
// lets in: by its ID, or by its port.
func wrongDatabase(r observe.Report, d ovndb.Database, row observe.Row) string {
	other := d.Other()
	for _, unit := range r.Application.Published.Names() {
		if id := r.Application.Published[unit][other].Server; id != "" && len(id) > 4 && id == row.ID {
			return fmt.Sprintf("%s, of %s", other, unit)
		}
	}
	if ovndb.PortOf(row.Address) == fmt.Sprint(ovndb.RaftPort(other)) {
		return string(other)
	}
	return ""
}

// joinPatience is how long units that were not given up may take to join a new cluster: as long as two intervals
// of update-status.
const joinPatience = 10 * time.Minute

// notInNewCluster are the other units whose server is in a cluster in whose place this unit's was
// put, and that have not joined this one yet. What they publish comes late: one at whose address this unit's own
// server has a member has joined. They may be lost if the recovery has given them up, or if they had the time to join.
func notInNewCluster(r observe.Report) (units, mayBeLost []string) {
	for _, unit := range r.Application.Published.Names() {
		awaited, lost := false, false
		for _, c := range r.Clusters {
			if unit == r.Application.Unit || !superseded(c, r.Application.Published[unit][c.Database].Cluster) || hasMemberAt(c, r.Application.Peers[unit].State.Address) {
				continue
			}
			awaited = true
			lost = lost || slices.Contains(c.View.GivenUp, unit) || r.At.Sub(c.View.MadeAt) >= joinPatience
		}
		if awaited {
			units = append(units, unit)
		}
		if lost {
			mayBeLost = append(mayBeLost, unit)
		}
	}
	return units, mayBeLost
}

// hasMemberAt reports whether this unit's server has a member at the address.
func hasMemberAt(c observe.Cluster, address netip.Addr) bool {
	return address.IsValid() && slices.ContainsFunc(c.Rows, func(row observe.Row) bool { return ovndb.HostOf(row.Address) == address.String() })
}

// superseded says whether a cluster is one that was given up for c.
func superseded(c observe.Cluster, id raft.ID) bool {
	return id != "" && c.Condition == ovndb.Serving && slices.Contains(c.View.Superseded, id)
}

// notInNewClusterText is what a status says of them.
func notInNewClusterText(r observe.Report) string {
	units, mayBeLost := notInNewCluster(r)
	switch {
	case len(units) == 0:
		return ""
	case len(mayBeLost) == 0:
		return "not in the new cluster yet: " + strings.Join(units, ", ")
	}
	return "not in the new cluster yet; if lost: " + juju.RemoveUnit("--force "+strings.Join(mayBeLost, " "))
}

// supersedesItself says of which databases the list of the clusters that were given up has their own, which
// means nothing.
func supersedesItself(r observe.Report) (all []string) {
	for _, c := range r.Clusters {
		if c.View.SupersedesItself {
			all = append(all, fmt.Sprintf("%s: the database names its own cluster as replaced (ignored; external_ids:%s of %s)",
				c.Database.Short(), observe.SupersededKey, c.Database.GlobalTable()))
		}
	}
	return all
}

// forgetSuperseded are the commands that remove such lists: the charm writes again what belongs there.
func forgetSuperseded(r observe.Report) (all []string) {
	for _, c := range r.Clusters {
		if c.View.SupersedesItself {
			all = append(all, fmt.Sprintf(`juju ssh %s "sudo ovn-%sctl --no-leader-only remove %s . external_ids '\"%s\"'"`,
				r.Application.Unit, c.Database.Short(), c.Database.GlobalTable(), observe.SupersededKey))
		}
	}
	return all
}

// foreignClusters names the units whose server is in a cluster of its own.
func foreignClusters(r observe.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		if c.Condition != ovndb.Serving || c.Status.Cluster == nil {
			continue
		}
		for _, unit := range r.Application.Published.Names() {
			if id := r.Application.Published[unit][c.Database].Cluster; id != "" && id != *c.Status.Cluster && !superseded(c, id) {
				all = append(all, fmt.Sprintf("%s: %s is in another cluster, %s; this unit's is %s", c.Database.Short(), unit, id.Brief(), c.Status.Cluster.Brief()))
			}
		}
	}
	return all
}
