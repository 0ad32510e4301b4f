package plan

import (
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// planFullDisk reports a full disk. The remaining space may suffice for the file of a server that lacks entries.
func (s State) planFullDisk(d *Decision) {
	d.find(finding.DiskFull, finding.Args{Value: s.Disk}, finding.ByHand(finding.MakeSpaceThere))
	s.planDamagedServers(d)
}

// planDamagedServers makes the servers rewrite the files that lack entries. It needs neither a certificate nor an
// address, and comes before the pause: only the server has these entries, and it may be killed at any time.
func (s State) planDamagedServers(d *Decision) {
	for _, db := range ovndb.Databases() {
		x := s.Databases[db]
		if x.Condition == ovndb.Serving && x.Damage != "" && !s.Clusters.superseded(db, x.Cluster) {
			s.planDamaged(d, db, x)
		}
	}
}

// planDamagedFiles reports the files on which no server can be started, with the command that replaces them. A unit
// without a certificate would only report that it waits for one.
func (s State) planDamagedFiles(d *Decision, held map[ovndb.Database]bool) {
	for _, db := range ovndb.Databases() {
		x, cluster := s.Databases[db], s.Clusters.IDs[db]
		if s.Paused || held[db] || x.Removed || cluster == "" || x.Cluster != "" && x.Cluster != cluster {
			continue
		}
		if x.Condition == ovndb.Down && x.Unusable() && !x.TooNew || x.Condition == ovndb.Failed && x.File.Damage != "" {
			s.planDatabase(d, db)
		}
	}
}

// planInterrupted does what can't wait until an interrupted upgrade is finished: the packages are unpacked, so a
// stopped server may start, as it does at the next boot. It makes no new member and restarts none.
func (s State) planInterrupted(d *Decision) {
	s.planDamagedServers(d)
	if s.Address != "" && !s.Paused && s.planCertificates(d) {
		s.planStart(d, func(db ovndb.Database, _ Database) string {
			if s.Recovery[db].HeldFor != "" {
				return ""
			}
			return "it is down, and the upgrade of the packages can't be finished now"
		})
	}
}
