package plan

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// remotes returns the Raft addresses through which this unit can join the application's cluster. While a unit that is
// being removed can't be read, they are the addresses that the leader last published.
func (s State) remotes(db ovndb.Database) []string {
	if known := s.knownRemotes(db); len(known) > 0 {
		return known
	}
	if !slices.ContainsFunc(s.Peers, func(p Peer) bool { return p.Dying && (p.Clusters[db] == "" || s.hasMade(p, db)) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Members[db]),
		func(remote string) bool { return remote == ovndb.RaftAddress(db, s.Address) })
}

// hasMade reports whether p, which is being removed, has created the application's cluster in a recovery and still
// publishes its old server. That happens if its only hook is a `stop` that fails: Juju drops the data of a failed
// hook.
func (s State) hasMade(p Peer, db ovndb.Database) bool {
	made := p.Unit == s.Clusters.CreatedBy || p.Requests[db].New == s.Clusters.IDs[db]
	return made && s.superseded(db, p.Clusters[db])
}

// knownRemotes returns the addresses of the peers with servers in the application's cluster: first the creator of the
// cluster, last the units that are being removed. Those serve as long as necessary, since they may have the only copy
// (R9). If a peer is at none of the members' addresses, since its own has changed, the members' are tried last.
func (s State) knownRemotes(db ovndb.Database) []string {
	var first, others, going []string
	for _, p := range s.Peers {
		remote := p.raftAddress(db)
		switch {
		case remote == "" || p.Clusters[db] != s.Clusters.IDs[db]:
		case p.Dying:
			going = append(going, remote)
		case p.Unit == s.Clusters.CreatedBy:
			first = append(first, remote)
		default:
			others = append(others, remote)
		}
	}
	all := slices.Concat(first, others, going)
	moved := slices.ContainsFunc(all, func(remote string) bool { return !slices.Contains(s.Members[db], remote) })
	for _, member := range s.Members[db] {
		if moved && member != ovndb.RaftAddress(db, s.Address) && !slices.Contains(all, member) {
			all = append(all, member)
		}
	}
	return all
}

// toRemove returns the first unit whose member can't be started any more, or has other data, and which an operator
// has told to join again; nil if there is none.
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

// removesForOthers reports whether this unit removes members for their units. The leader does; if the leader is being
// removed or requests its own removal, the first unit that stays does. The only hook of a unit that is being removed
// may be a `stop` that is refused until the member is gone.
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
	return x.FileUnknown || !x.File.Damage.IsZero() || x.File.Outside && x.File.WasMember
}

// Replaceable reports whether an operator may request a new server in place of this one: no server can be started on
// its file, or its data is not the cluster's.
func (x Database) Replaceable() bool {
	if x.Condition == ovndb.Serving {
		return !x.Inconsistent.IsZero()
	}
	return (x.Condition == ovndb.Down || x.Condition == ovndb.Failed) && x.Unusable()
}

// rejoin returns the command that replaces a server that can't be started: this unit moves the file away, and joins
// again once the member was kicked. Without a quorum no unit can kick it, so the quorum must be restored first.
func (v *view) rejoin() finding.Remedy {
	if v.x.Rejoin.Action == "" {
		return finding.ByHand(finding.RestoreFile)
	}
	if unit := v.leaderless(); unit != "" {
		return finding.Do(recovery.Request{}.Command(unit, nil, "dry-run"))
	}
	return finding.Do(v.x.Rejoin)
}

// leaderless returns the first other unit with a copy of the database if the unit of each other member publishes that
// it knows no leader. It returns an empty name if any of them may know a leader.
func (v *view) leaderless() (unit string) {
	for _, p := range v.Peers {
		if v.cluster() == "" || p.Clusters[v.db] != v.cluster() {
			continue
		}
		c, published := p.Copies[v.db]
		if !published || c.HasRaftLeader || c.Stopped || c.Damage != "" {
			return ""
		}
		unit = cmp.Or(unit, p.Unit)
	}
	return unit
}

func (s State) superseded(db ovndb.Database, cluster raft.ID) bool {
	return cluster != "" && slices.Contains(s.Clusters.Superseded[db], cluster)
}

// recoverySteps maps the decisions of package recovery to steps.
var recoverySteps = map[recovery.Action]Kind{
	recovery.Stop: StopServer, recovery.Release: ReleaseServer, recovery.Make: RemakeCluster,
	recovery.Accept: AcceptRecovery, recovery.Publish: Supersede, recovery.Withdraw: WithdrawRequest,
}

// Withdrawn returns the finding that the recovery requested on this unit was withdrawn.
func Withdrawn(db ovndb.Database, why finding.Finding) finding.Finding {
	f := finding.Of(finding.RecoveryWithdrawn, db, finding.Args{}, why.Remedies...)
	why.Remedies = nil
	f.Causes = []finding.Finding{why}
	return f
}

func (v *view) recoveryNext() (next recovery.Step) {
	if r, known := v.Recovery[v.db]; known {
		next = r.Next()
	}
	return next
}

// recoveryStep returns this unit's part of a requested recovery; its kind is empty if there is nothing to do. A unit
// that is being removed publishes the new cluster if it is the application's leader. It commits and serves a cluster
// that it has created and that was published. It begins nothing, and no other unit waits for it.
func (v *view) recoveryStep() Step {
	next := v.recoveryNext()
	kind := recoverySteps[next.Action]
	if kind == "" || v.Dying && next.Action == recovery.Release { // its server starts before, see isOver
		return Step{}
	}
	return Step{Kind: kind, Database: v.db, Unit: next.For, Cluster: next.New, Why: next.Why}
}

// held reports whether a recovery requires the server to stay stopped.
func (v *view) held() bool { return v.recoveryNext().Held }

func (v *view) awaitsRecovery() bool {
	_, is := v.recoveryNext().Waits()
	return is
}

func (v *view) findAwaitedRecovery() finding.Finding {
	why, _ := v.recoveryNext().Waits()
	return why
}

// isOver reports whether the reason to stop this unit's server is over, or whether it can't be determined any more
// and an operator resumes the unit. The server starts before that is recorded: otherwise, if the unit is killed in
// between, its stopped server would be mistaken for one that has failed.
func (s State) isOver(db ovndb.Database) bool {
	r := s.Recovery[db]
	if r.HeldFor == "" {
		return false
	}
	next := r.Next()
	return next.Action == recovery.Release || s.Resumed && next.Held && next.Why.Code == finding.RecoveryUnread
}
