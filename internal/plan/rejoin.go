package plan

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// toRemove is the first unit whose member can't be started any more, or has other data, and that an operator has told
// to join again; nil if there is none.
func (v *view) toRemove() *Peer {
	i := slices.IndexFunc(v.Peers, func(p Peer) bool { return !p.Dying && v.x.Status.HasMember(p.Rejoin[v.db]) })
	if i < 0 {
		return nil
	}
	return &v.Peers[i]
}

func (v *view) removeDamaged() Step {
	p := v.toRemove()
	return Step{
		Kind: RemoveDamaged, Database: v.db, Unit: p.Unit, Server: p.Rejoin[v.db],
		Reason: p.Unit + " asks to join as a new member",
	}
}

// removesForOthers reports whether this unit removes members for their units: the leader does, or if that is being
// removed or asks for it itself, the first unit that stays. The only hook of a unit that is being removed may be a
// `stop` that is refused until the member is gone.
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

// Unusable reports whether no server can be started on a former member's file.
func (x Database) Unusable() bool {
	return x.FileUnknown || x.File.Damage != "" || x.File.Outside && x.File.WasMember
}

// Replaceable reports whether an operator may request a new server in place of this one: none can be started on its
// file, or its data is not the cluster's.
func (x Database) Replaceable() bool {
	if x.Condition == ovndb.Serving {
		return x.Inconsistent != ""
	}
	return (x.Condition == ovndb.Down || x.Condition == ovndb.Failed) && x.Unusable()
}

// rejoin is the command that replaces a server that can't be started: this unit moves the file away and joins again
// once the member was kicked.
func (x Database) rejoin() finding.Remedy {
	if x.Rejoin.Action == "" {
		return finding.ByHand(finding.RestoreFile)
	}
	return finding.Do(x.Rejoin)
}
