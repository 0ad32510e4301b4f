package plan

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// superseded reports whether a cluster was replaced by another one.
func (c Clusters) superseded(db ovndb.Database, cluster raft.ID) bool {
	return cluster != "" && slices.Contains(c.Superseded[db], cluster)
}

// recoverySteps are the steps for the decisions of package recovery.
var recoverySteps = map[recovery.Action]Kind{
	recovery.Stop: StopServer, recovery.Release: ReleaseServer, recovery.Make: RemakeCluster,
	recovery.Accept: AcceptRecovery, recovery.Publish: Supersede, recovery.Withdraw: WithdrawRequest,
}

// Withdrawn is the finding that the recovery on this unit was withdrawn.
func Withdrawn(db ovndb.Database, why finding.Finding) finding.Finding {
	f := finding.Of(finding.RecoveryWithdrawn, db, finding.Args{}, why.Remedies...)
	why.Remedies = nil
	f.Causes = []finding.Finding{why}
	return f
}

func (v *view) withdrawn() bool {
	_, is := v.Refused[v.db]
	return is
}

func (v *view) recoveryNext() (next recovery.Step) {
	if r, known := v.Recovery[v.db]; known {
		next = r.Next()
	}
	return next
}

// recoveryStep is this unit's part of a requested recovery; its kind is empty if there is nothing to do. A unit that is
// being removed publishes the new cluster as the application's leader, and commits and serves one that it has made and
// that was published. It begins nothing: a recovery requested on it is over, it stops no server, and no other unit
// waits for it.
func (v *view) recoveryStep() Step {
	next := v.recoveryNext()
	kind := recoverySteps[next.Action]
	if kind == "" || v.Dying && next.Action == recovery.Release { // its server starts before, see isOver
		return Step{}
	}
	return Step{Kind: kind, Database: v.db, Unit: next.For, Cluster: next.New, Why: next.Why}
}

// held reports whether the server should stay stopped.
func (v *view) held() bool { return v.recoveryNext().Held }

func (v *view) awaitsRecovery() bool {
	_, is := v.recoveryNext().Waits()
	return is
}

func (v *view) findAwaitedRecovery() finding.Finding {
	why, _ := v.recoveryNext().Waits()
	return why
}

// isOver reports whether the reason to stop this unit's server is over, or can't be determined any more and an operator
// resumes the unit. The server starts before that is recorded: otherwise, if the unit is killed in between, its stopped
// server would be mistaken for one that has failed.
func (s State) isOver(db ovndb.Database) bool {
	r := s.Recovery[db]
	if r.HeldFor == "" {
		return false
	}
	next := r.Next()
	return next.Action == recovery.Release || s.Resumed && next.Held && next.Why.Code == finding.RecoveryUnread
}
