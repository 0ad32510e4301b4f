package plan

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Decide returns the next step. Call it after each step, with a new observation; if it returns no step, the unit is as
// it should be, or waits.
func Decide(s State) (d Decision) {
	d.Ready = s.ready()
	switch {
	case s.Problem != "":
		d.find(finding.PublishedDataInvalid, finding.Args{Detail: s.Problem})
	case s.Dying:
		s.planDying(&d)
	case !s.Packages.Installed && s.Disk != "":
		s.planFullDisk(&d)
	case !s.Packages.Installed && !s.Packages.Interrupted() && !s.usable(OptionSource, OptionOverlay): // dpkg needs none to finish
		d.find(finding.PackagesAwaited, finding.Args{})
	case s.Packages.Interrupted() && s.Packages.Unavailable:
		s.planInterrupted(&d)
	case !s.Packages.Installed:
		d.do(Step{Kind: Install})
	case s.Address == "":
		s.planDamagedServers(&d)
		d.find(finding.AddressUnknown, finding.Args{}, finding.Do(command.Client("exec", "--unit", s.Unit, "network-get ovsdb-peer")))
	default:
		s.planWork(&d)
		s.findExposed(&d)
	}
	s.findOptions(&d) // last: only what depends on an option waits for it
	return d
}

// planStart starts the stopped members that have a reason to start, and ovn-northd with them, since no other unit may
// have one.
func (s State) planStart(d *Decision, why func(ovndb.Database, Database) string) {
	var (
		services []ovndb.Service
		reason   string
	)
	for _, db := range ovndb.Databases() {
		x := s.Databases[db]
		because := why(db, x)
		if because == "" || x.Condition != ovndb.Down || s.Clusters.superseded(db, x.Cluster) {
			continue
		}
		var found Decision
		if s.planDown(&found, db, x); len(found.starting) > 0 {
			reason = cmp.Or(reason, because)
		}
		services = append(services, found.starting...)
		for _, f := range found.Findings {
			if f.Severity == finding.Error {
				d.Findings = append(d.Findings, f)
			}
		}
	}
	if len(services) > 0 && !s.Services[ovndb.Northd].Active && !s.NorthdHeld {
		services = append(services, ovndb.Northd)
	}
	if len(services) > 0 {
		d.do(Step{Kind: Start, Services: services, Reason: reason})
	}
}

func (s State) planWork(d *Decision) {
	held := s.planRecovery(d)
	if s.Disk != "" {
		s.planFullDisk(d)
		return
	}
	s.planDamagedServers(d)
	if !s.Certificates.Used.usable() {
		s.planDamagedFiles(d, held)
	}
	if !s.planCertificates(d) {
		return
	}
	if s.Defaults == Drifted || s.Defaults == NeedsRestart {
		d.do(Step{Kind: WriteDefaults})
	}
	if s.Firewall == Drifted {
		d.do(Step{Kind: ConfigureFirewall})
	}
	if s.Paused {
		d.find(finding.Paused, finding.Args{}, finding.Do(s.action("resume")))
		return
	}
	if !s.planClusters(d) {
		return
	}
	for _, db := range ovndb.Databases() {
		if !held[db] && !s.planSuperseded(d, db) {
			s.planDatabase(d, db)
		}
	}
	// Servers start together, and before anything that waits for another unit's turn.
	if len(d.starting) > 0 && (d.Step == nil || d.Step.Kind == Restart || d.Step.Kind == Leave) {
		d.Step = &Step{Kind: Start, Services: d.starting}
		if s.outdated() {
			d.Step = &Step{Kind: Upgrade, Reason: "the source has changed, and a server is down"}
		}
	}
	if !s.members() {
		return
	}
	for _, db := range ovndb.Databases() {
		s.planRaftLeader(d, db)
	}
	s.planNorthd(d)
	s.planRollout(d)
}

// members reports whether this unit's servers are members of the application's two clusters.
func (s State) members() bool {
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; !x.MemberWithLeader() || x.Damage != "" || x.Inconsistent != "" || x.Cluster != s.Clusters.IDs[db] {
			return false
		}
	}
	return true
}

// ready reports whether clients may be sent here.
func (s State) ready() bool {
	for _, db := range ovndb.Databases() {
		if !s.Databases[db].ClientsServed {
			return false
		}
	}
	return s.members() && !s.Paused && s.Address != ""
}

// planDatabase plans the next step for this unit's part of one database.
func (s State) planDatabase(d *Decision, db ovndb.Database) {
	x := s.Databases[db]
	switch x.Condition {
	case ovndb.Serving:
		s.planServing(d, db, x)
	case ovndb.Absent:
		s.planAbsent(d, db, x)
	case ovndb.Down:
		s.planDown(d, db, x)
	case ovndb.Left:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server has left the cluster or was removed"})
		d.findIn(db, finding.ServerRemoved, finding.Args{})
	case ovndb.Failed:
		s.planFailed(d, db, x)
	case ovndb.Standalone:
		x.findStandalone(d, db)
	case ovndb.Hung:
		d.findIn(db, finding.ServerHangs, finding.Args{Detail: strings.TrimPrefix(x.Text, "the server hangs: ")}, finding.If(finding.IfThisLasts, s.restart(ovndb.ServiceOf(db))))
	default:
		if x.Starting {
			d.findIn(db, finding.ServerStarting, finding.Args{},
				finding.If(finding.IfThisLasts, command.OnMachine(s.Unit, "systemctl", "status", string(ovndb.ServiceOf(db)))))
			return
		}
		x.findUnserved(d, db)
	}
}

// planFailed judges a server that has given up the database and is down for all others: it is restarted, if a server
// can be started on its file with all acknowledged entries.
func (s State) planFailed(d *Decision, db ovndb.Database, x Database) {
	switch {
	case x.File.Damage == "":
		d.do(Step{Kind: Restart, Service: ovndb.ServiceOf(db), Reason: "the server has given up the database"})
		d.findIn(db, finding.ServerFailed, finding.Args{Path: path.Dir(x.File.Path)}, finding.ByHand(finding.MakeSpace))
	case x.Removed:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server was removed and can't be started on this file"})
		d.findIn(db, finding.ServerRemoved, finding.Args{})
	default:
		d.findIn(db, finding.FileUnusable, x.fileArgs(db, finding.Args{Detail: strings.TrimSuffix(x.File.Damage+"; "+x.Text, "; ")}), x.rejoin())
	}
}

func (s State) planServing(d *Decision, db ovndb.Database, x Database) {
	if c := x.Cluster; c != "" && c != s.Clusters.IDs[db] {
		d.findIn(db, finding.ServerOfOtherCluster, finding.Args{Cluster: c.Brief(), Other: s.Clusters.IDs[db].Brief()})
		return
	}
	if here := ovndb.RaftAddress(db, cmp.Or(s.Better, s.Address)); x.Status.Address != here && x.Status.State == raft.ClusterMember {
		d.findIn(db, finding.AddressChanged, finding.Args{Address: x.Status.Address, Other: here}, s.replace())
	}
	if x.Damage != "" { // planDamagedServers has judged it
		return
	}
	if x.Inconsistent != "" {
		d.findIn(db, finding.DataDiffer, x.fileArgs(db, finding.Args{Detail: x.Inconsistent}), x.rejoin())
	}
	switch {
	case x.Status.State == raft.JoiningCluster:
		if x.JoinLost && len(s.remotes(db)) > 0 {
			d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the leader has stopped adding this server"})
		} else if s.cannotJoin(db, x) {
			d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server tries to join through units that are gone"})
		}
		d.findIn(db, finding.ServerJoining, s.joined())
	case x.Status.State == raft.LeavingCluster && x.Former != "": // this unit's own joins next
		d.findIn(db, finding.ServerJoining, s.joined())
	case x.Status.State == raft.LeavingCluster:
		d.findIn(db, finding.ServerLeaving, finding.Args{})
	case !x.Status.HasLeader() && x.Removed:
		d.do(Step{Kind: Leave, Database: db, Reason: "the other members have removed this server"})
		d.findIn(db, finding.ServerRemoved, finding.Args{})
	}
}

// planDamaged makes a server rewrite its file, and if it can't, reports that it must keep running.
func (s State) planDamaged(d *Decision, db ovndb.Database, x Database) {
	if x.Unmended == "" {
		d.do(Step{Kind: RewriteFile, Database: db, Reason: x.Damage})
	}
	replace := s.replace()
	replace.When = finding.IfNoSpace
	d.findIn(db, finding.FileLacksEntries, finding.Args{Path: path.Dir(x.File.Path), Detail: cmp.Or(x.Unmended, x.Damage)}, finding.ByHand(finding.MakeSpace), replace)
}

// cannotJoin reports whether a server can't join through the members in its file while there are others: they are
// members of no existing unit, or none of them answers. A server that knows the leader is receiving the log, and may
// become a member any moment.
func (s State) cannotJoin(db ovndb.Database, x Database) bool {
	remotes := s.knownRemotes(db)
	if x.Status.HasLeader() || len(x.Status.Remotes) == 0 || len(remotes) == 0 {
		return false
	}
	there := func(remote string) bool {
		return slices.ContainsFunc(s.Peers, func(p Peer) bool {
			return p.Address != "" && remote == ovndb.RaftAddress(db, p.Address) && p.Clusters[db] == s.Clusters.IDs[db]
		})
	}
	answers := slices.ContainsFunc(x.Status.Connections, func(c raft.Connection) bool { return c.Up })
	return !slices.ContainsFunc(x.Status.Remotes, there) || !answers && missing(remotes, x.Status.Remotes)
}

func (s State) planAbsent(d *Decision, db ovndb.Database, x Database) {
	cluster := s.Clusters.IDs[db]
	switch {
	case x.Staged == cluster && cluster != "" && x.Rival != "":
		d.findIn(db, finding.OldClusterServed, finding.Args{Address: x.Rival}, finding.ByHand(finding.StopOldServer))
		return
	case x.Staged == cluster && cluster != "":
		d.do(Step{Kind: CommitCluster, Database: db})
		return
	case x.Staged != "":
		d.do(Step{Kind: DiscardCluster, Database: db, Reason: "the application's cluster is another one"})
		return
	}
	remotes := s.remotes(db)
	if len(remotes) > 0 {
		d.do(Step{Kind: JoinCluster, Database: db, Cluster: cluster, Remotes: remotes})
		d.findIn(db, finding.ServerJoining, s.joined())
		return
	}
	creator, alone := s.Clusters.CreatedBy, len(s.Peers) == 0
	if unit, why := s.mayServe(db); unit != "" {
		d.findIn(db, finding.ClusterAwaited, finding.Args{Unit: unit, Cluster: cluster.Short(), Detail: why})
		return
	}
	switch {
	case creator == s.Unit:
		d.findIn(db, finding.ClusterLost, finding.Args{Cluster: cluster.Brief(), Detail: "it was created here, and its file is gone"}, finding.ByHand(finding.DeployAgain))
	case alone:
		d.findIn(db, finding.ClusterLost, finding.Args{Cluster: cluster.Brief(), Detail: creatorIsGone(creator)}, finding.ByHand(finding.DeployAgain))
	case creator != "" && !s.exists(creator):
		// A server that joined in a hook that has not ended yet is not published.
		d.findIn(db, finding.ClusterLost, finding.Args{Cluster: cluster.Brief(), Detail: "none says that it has it: see cluster-status on each; " + creatorIsGone(creator)},
			finding.Remedy{When: finding.IfGone, Deed: finding.DeployAgain})
	default:
		d.findIn(db, finding.ClusterAwaited, finding.Args{Unit: cmp.Or(creator, "a unit"), Cluster: cluster.Short()})
	}
}

// mayServe is the first peer that may have the application's cluster although no data shows it, and why. The cluster
// must not be called lost before all units of the model are known not to have it.
func (s State) mayServe(db ovndb.Database) (unit, why string) {
	for _, p := range s.Peers {
		switch {
		case p.Data == Unread && p.Dying:
			return p.Unit, "it is being removed, and what it publishes can't be read"
		case p.Data == Unread:
			return p.Unit, "what it publishes can't be read"
		case p.Data == NothingPublished && p.Dying:
			return p.Unit, "it is being removed, and publishes nothing"
		case p.Dying && p.Clusters[db] == "": // it may have joined in its last hook, and publishes nothing after that
			return p.Unit, "it is being removed, and may have joined"
		case p.Data == NothingPublished:
			return p.Unit, "it has published nothing"
		case p.Servers[db] != "" && p.Clusters[db] == "":
			return p.Unit, "it is joining"
		case p.Address != "" && slices.Contains(s.Members[db], ovndb.RaftAddress(db, p.Address)):
			return p.Unit, "it is known as a member"
		}
	}
	return "", ""
}

func creatorIsGone(creator string) string {
	if creator == "" {
		return ""
	}
	return creator + ", which created it, is gone"
}

func (s State) exists(unit string) bool {
	return unit == s.Unit || slices.ContainsFunc(s.Peers, func(p Peer) bool { return p.Unit == unit })
}

// planDown judges a file without a server (R10).
func (s State) planDown(d *Decision, db ovndb.Database, x Database) {
	cluster := s.Clusters.IDs[db]
	here := ovndb.RaftAddress(db, s.Address)
	switch {
	case x.Unusable() && x.Removed:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server was removed and can't be started on this file"})
		d.findIn(db, finding.ServerRemoved, finding.Args{})
	case x.TooNew:
		if !s.Packages.Unavailable && s.usable(OptionSource, OptionOverlay) {
			d.do(Step{Kind: Upgrade, Reason: db.Short() + ": its file is of a newer Open vSwitch"})
		}
		d.findIn(db, finding.FileTooNew, finding.Args{Version: s.Packages.Version.OVS}, finding.Do(command.OnMachine(s.Unit, "apt-cache", "policy", "openvswitch-common")))
	case x.FileUnknown:
		d.findIn(db, finding.FileUnreadable, x.fileArgs(db, finding.Args{Detail: x.Text}), x.rejoin())
	case x.Cluster != "" && x.Cluster != cluster:
		d.findIn(db, finding.FileOfOtherCluster, x.fileArgs(db, finding.Args{Cluster: x.Cluster.Brief(), Other: cluster.Brief()}), finding.ByHand(finding.MoveAway))
	case x.File.Outside && x.File.WasMember: // its removal may have been undone, and then its vote still counts
		d.findIn(db, finding.FileCutOff, x.fileArgs(db, finding.Args{}), x.rejoin())
	case x.File.Outside:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server was killed while it joined, and is not a member"})
		d.findIn(db, finding.ServerJoining, s.joined())
	case x.File.Damage != "":
		d.findIn(db, finding.FileUnusable, x.fileArgs(db, finding.Args{Detail: x.File.Damage}), x.rejoin())
	case x.File.Address != "" && x.File.Address != here:
		d.Findings = append(d.Findings, finding.Of(finding.AddressChanged, db, finding.Args{Address: x.File.Address, Other: here}, s.replace()).As(finding.Error))
	default:
		d.starting = append(d.starting, ovndb.ServiceOf(db))
		d.findIn(db, finding.ServerDown, finding.Args{Detail: x.Cause})
	}
}

// replace is the command to replace this unit by another one.
func (s State) replace() finding.Remedy {
	return finding.Do(command.Client("add-unit", unitname.Application(s.Unit)), command.RemoveUnit(s.Unit))
}
