package plan

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// planRejoin removes the members that can't be started any more, or have other data, for their
// units, which were told by an operator to join anew.
func (s State) planRejoin(d *Decision, db ovndb.Database, x Database) {
	for _, p := range s.Peers {
		id := p.Rejoin[db]
		if p.Dying || !x.Status.HasMember(id) {
			continue
		}
		d.do(Step{Kind: RemoveDamaged, Database: db, Unit: p.Unit, Server: id, Reason: p.Unit + " asks to join as a new member"})
	}
}

// removesForOthers says whether this unit removes members for their units: the one that leads
// does or, where that one's unit is being removed or asks for it itself, the first of those that stay. Of a unit that
// is being removed the only hook may be a `stop` that is refused until the member is gone.
func (s State) removesForOthers(db ovndb.Database, x Database) bool {
	if x.IsRaftLeader() || !x.MemberWithLeader() {
		return x.IsRaftLeader()
	}
	leads := func(p Peer) bool { return p.Servers[db] != "" && raft.Ref(p.Servers[db].Short()) == x.Status.Leader }
	if !slices.ContainsFunc(s.Peers, func(p Peer) bool { return leads(p) && (p.Dying || p.Rejoin[db] == p.Servers[db]) }) {
		return false
	}
	return !slices.ContainsFunc(s.Peers, func(p Peer) bool {
		return !p.Dying && p.Clusters[db] != "" && p.Rejoin[db] == "" && s.hears(p) && unitname.Compare(p.Unit, s.Unit) < 0
	})
}

// Unusable says that no server can be started on the file of one that was a member.
func (x Database) Unusable() bool {
	return x.FileUnknown || x.File.Damage != "" || x.File.Outside && x.File.WasMember
}

// Replaceable says that a new server may be asked for in the place of this one: none can be started on
// its file, or its data are not the cluster's.
func (x Database) Replaceable() bool {
	if x.Condition == ovndb.Serving {
		return x.Inconsistent != ""
	}
	return (x.Condition == ovndb.Down || x.Condition == ovndb.Failed) && x.Unusable()
}

// rejoin is what an operator types to have a new server in the place of one that can't
// be started: this unit puts the file away and joins again once that was kicked.
func (x Database) rejoin() finding.Remedy {
	if x.Rejoin.Action == "" {
		return finding.ByHand(finding.RestoreFile)
	}
	return finding.Do(x.Rejoin)
}
