package plan

import (
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// planDying plans for a unit that is being removed. The stop hook, not the planner, removes its members; until then
// they vote, and must understand the others. Servers of a cluster that was given up are no members, and are not kept
// until `stop`, which may be refused, or be hours away.
//
// Of a recovery, such a unit does what no other can: as the application's leader it publishes the new cluster; it
// commits and serves one that it has made and that was published; and it ends the stop of its servers once the recovery
// is over. It begins nothing: a recovery requested on it is over, it stops no server, and no other unit waits for it.
func (s State) planDying(d *Decision) {
	if s.Paused {
		d.find(finding.Paused, finding.Args{}, finding.Do(s.action("resume")))
	}
	s.planRecovery(d)
	for _, db := range ovndb.Databases() {
		s.planNewCluster(d, db)
	}
	s.planDamagedServers(d)
	if (s.Packages.Installed || s.Packages.Interrupted()) && s.Address != "" && s.planCertificates(d) {
		s.planStart(d, s.startsWhileDying)
	}
	for _, db := range ovndb.Databases() {
		if s.isOver(db) {
			d.do(Step{Kind: ReleaseServer, Database: db, Unit: s.Recovery[db].HeldFor})
		}
	}
}

// planNewCluster moves away the files of a cluster that was given up, and commits the one that this unit has made: no
// other unit has it.
func (s State) planNewCluster(d *Decision, db ovndb.Database) {
	x := s.Databases[db]
	made := x.Staged != "" && x.Staged == s.Clusters.IDs[db]
	if made && s.awaitsClaims(d) || s.planSuperseded(d, db) {
		return
	}
	if made && x.Condition == ovndb.Absent {
		s.planAbsent(d, db, x)
	}
}

// startsWhileDying is why a stopped server is started: while it is down, `stop` can't remove it from its cluster, and
// it may have the only copy. No new member is made for that.
func (s State) startsWhileDying(db ovndb.Database, x Database) string {
	over := s.isOver(db)
	switch {
	case s.Recovery[db].HeldFor != "" && !over:
		return ""
	case s.Resumed:
		return "the unit was resumed, and the stop hook needs its servers"
	case s.Paused:
		return ""
	case over:
		return "the recovery that it was stopped for is over"
	case x.File.Sole && !x.File.WasMember && x.Cluster == s.Clusters.IDs[db]:
		return "no other unit has the new cluster yet"
	}
	return ""
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
