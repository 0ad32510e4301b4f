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

// planRecovery plans this unit's part of a requested recovery, and returns the databases whose server should stay
// stopped.
func (s State) planRecovery(d *Decision) (held map[ovndb.Database]bool) {
	held = map[ovndb.Database]bool{}
	for _, db := range ovndb.Databases() {
		if why, is := s.Refused[db]; is {
			d.Findings = append(d.Findings, Withdrawn(db, why))
		}
		r, known := s.Recovery[db]
		if !known {
			continue
		}
		next := r.Next()
		if kind := recoverySteps[next.Action]; kind != "" && (!s.Dying || next.Action != recovery.Release) {
			d.do(Step{Kind: kind, Database: db, Unit: next.For, Cluster: next.New, Why: next.Why})
		}
		held[db] = next.Held
		if why, is := next.Waits(); is {
			d.Findings = append(d.Findings, why)
		}
	}
	return held
}

// planSuperseded moves away this unit's part of a replaced cluster: its server may not serve beside the new one's
// (R10). It reports whether there is any.
func (s State) planSuperseded(d *Decision, db ovndb.Database) bool {
	x := s.Databases[db]
	if !s.Clusters.superseded(db, x.Cluster) || x.Condition == ovndb.Absent {
		return false
	}
	d.do(Step{Kind: ArchiveFile, Database: db, Reason: "it is of a cluster that was given up in a recovery"})
	if !s.Dying {
		d.findIn(db, finding.CopyGivenUp, finding.Args{})
	}
	return true
}
