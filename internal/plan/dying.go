package plan

import (
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// planDying leaves to `stop` what becomes of the members of a unit that is being removed; until
// then they vote, and must understand the others. Servers of a cluster that was given up are
// no members, and nothing waits for their `stop`: it may be refused, or be hours away.
//
// Of recoveries such a unit does what no other one can: as the one that leads the application it publishes
// the new cluster; it puts in its place, and serves, one that it has made and that was published; and it ends what
// it was stopped for once that is over. It begins nothing: what it was asked for itself is over, it stops no server,
// and none of the others waits for it.
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

// planNewCluster puts away what is of a cluster that was given up, and in its place the one that this unit
// has made: no other has it.
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

// startsWhileDying is why a server that is down is started: while it is, `stop` can't take it out of its
// cluster, and it may have the only copy. No new member is made for it.
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

// isOver says whether what this unit's server was stopped for is over, or can't be found out any more and an operator
// resumes the unit. It is started before that is noted: a server that is down in a unit which was killed
// in between would be taken for one that has failed.
func (s State) isOver(db ovndb.Database) bool {
	r := s.Recovery[db]
	if r.HeldFor == "" {
		return false
	}
	next := r.Next()
	return next.Action == recovery.Release || s.Resumed && next.Held && next.Unread
}
