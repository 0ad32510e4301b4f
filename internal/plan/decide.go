package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Decide says what is next. It is called again after each step, with what was
// then found out; where it gives no step, the unit is as it should be, or waits.
func Decide(s State) (d Decision) {
	d.Ready = s.ready()
	harmless := []string{OptionExporter, OptionStatusFormat} // the charm works with their defaults
	for _, option := range slices.Sorted(maps.Keys(s.Invalid)) {
		if !slices.Contains(harmless, option) {
			d.Options = append(d.Options, s.Invalid[option])
		}
	}
	defer func() {
		for _, option := range harmless {
			if text := s.Invalid[option]; text != "" {
				d.note("%s", text)
			}
		}
	}()
	switch {
	case s.Problem != "":
		d.block("%s", s.Problem)
	case s.Dying:
		s.planDying(&d)
	case !s.Packages.Installed && s.Disk != "":
		s.planFullDisk(&d)
	case !s.Packages.Installed && !s.Packages.Interrupted() && !s.usable(OptionSource, OptionOverlay): // dpkg needs none to finish
		d.wait("the packages are not installed until their source can be used")
	case s.Packages.Interrupted() && s.Packages.Unavailable:
		s.planInterrupted(&d)
	case !s.Packages.Installed:
		d.do(Step{Kind: Install})
	case s.Address == "":
		s.planDamagedServers(&d)
		d.wait("no ovsdb-peer address: juju exec --unit %s 'network-get ovsdb-peer'", s.Unit)
	default:
		s.planWork(&d)
		d.Exposed = s.exposed()
	}
	return d
}

// planStart starts what is down of the members that are here and for whose start there is a reason, and ovn-northd
// with them, since no other unit may have one.
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
		d.Blocked = append(d.Blocked, found.Blocked...)
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
		d.note("paused; run: %s", s.Command("resume"))
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
	// Servers start together, and before what has to wait for another unit's turn.
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

// members says whether this unit's servers are members of the application's two
// clusters.
func (s State) members() bool {
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; !x.MemberWithLeader() || x.Damage != "" || x.Inconsistent != "" || x.Cluster != s.Clusters.IDs[db] {
			return false
		}
	}
	return true
}

// ready says whether clients may be sent here.
func (s State) ready() bool {
	for _, db := range ovndb.Databases() {
		if !s.Databases[db].ClientsServed {
			return false
		}
	}
	return s.members() && !s.Paused && s.Address != ""
}

// planDatabase takes this unit's part of one database a step further.
func (s State) planDatabase(d *Decision, db ovndb.Database) {
	x, name := s.Databases[db], db.Short()
	switch x.Condition {
	case ovndb.Serving:
		s.planServing(d, db, x)
	case ovndb.Absent:
		s.planAbsent(d, db, x)
	case ovndb.Down:
		s.planDown(d, db, x)
	case ovndb.Left:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server has left the cluster or was removed"})
		d.wait("%s: this unit's server was removed; it joins again as a new member", name)
	case ovndb.Failed:
		s.planFailed(d, db, x)
	case ovndb.Standalone:
		d.block("%s: %s", name, x.standalone(db))
	case ovndb.Hung:
		d.block("%s: the server hangs; if this lasts, run: %s (%s)", name, s.restart(ovndb.ServiceOf(db)), x.Text)
	default:
		if x.Starting {
			d.wait("%s: the server is starting (if this lasts, look at: juju ssh %s systemctl status %s)", name, s.Unit, ovndb.ServiceOf(db))
			return
		}
		d.block("%s: %s", name, x.Text)
	}
}

// planFailed judges a server that has given up the database, and is down for all others:
// it is started anew, if one can be started on its file with all that was acknowledged.
func (s State) planFailed(d *Decision, db ovndb.Database, x Database) {
	switch name := db.Short(); {
	case x.File.Damage == "":
		d.do(Step{Kind: Restart, Service: ovndb.ServiceOf(db), Reason: "the server has given up the database"})
		d.block("%s: %s", name, x.Text)
	case x.Removed:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server was removed and can't be started on this file"})
		d.wait("%s: this unit's server was removed; it joins again as a new member", name)
	default:
		d.block("%s: its file lacks entries; %s (%s)", name, x.rejoin(), x.File.Damage+"; "+x.Text)
	}
}

// standalone says what to do with a database that is no cluster's.
func (x Database) standalone(db ovndb.Database) string {
	return fmt.Sprintf("standalone; stop %s and move %s away", ovndb.ServiceOf(db), x.File.Path)
}

func (s State) planServing(d *Decision, db ovndb.Database, x Database) {
	name := db.Short()
	if c := x.Cluster; c != "" && c != s.Clusters.IDs[db] {
		d.block("%s: this unit's server is of cluster %s, the application's is %s", name, c.Brief(), s.Clusters.IDs[db].Brief())
		return
	}
	if here := ovndb.RaftAddress(db, cmp.Or(s.Better, s.Address)); x.Status.Address != here && x.Status.State == raft.ClusterMember {
		d.note("%s: address changed: %s (the member is at %s, the unit at %s)", name, s.replace(), x.Status.Address, here)
	}
	if x.Damage != "" { // planDamagedServers has judged it
		return
	}
	if x.Inconsistent != "" {
		d.block("%s: its data differ; %s (%s)", name, x.rejoin(), x.Inconsistent)
	}
	switch {
	case x.Status.State == raft.JoiningCluster:
		if x.JoinLost && len(s.remotes(db)) > 0 {
			d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the leader has stopped adding this server"})
		} else if s.cannotJoin(db, x) {
			d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server tries to join through units that are gone"})
		}
		d.wait("%s: joining the cluster; %s", name, s.joined())
	case x.Status.State == raft.LeavingCluster && x.Former != "": // this unit's own joins next
		d.wait("%s: joining the cluster; %s", name, s.joined())
	case x.Status.State == raft.LeavingCluster:
		d.wait("%s: leaving the cluster", name)
	case !x.Status.HasLeader() && x.Removed:
		d.do(Step{Kind: Leave, Database: db, Reason: "the other members have removed this server"})
		d.wait("%s: this unit's server was removed while it was down; it joins again", name)
	}
}

// planDamaged has a server write its file anew, and where it can't says that it must go on.
func (s State) planDamaged(d *Decision, db ovndb.Database, x Database) {
	if x.Unmended == "" {
		d.do(Step{Kind: RewriteFile, Database: db, Reason: x.Damage})
	}
	d.block("%s: file lacks entries, don't stop it: make space, or run: %s (%s)", db.Short(), s.replace(), cmp.Or(x.Unmended, x.Damage))
}

// cannotJoin says whether a server can't join through those that its file names,
// while there are others: they are no members of units that exist, or none of them
// answers. One that knows the leader is being sent the log, and may be a member any
// moment.
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
		d.wait("%s: the old cluster is still served at %s: stop it there", db.Short(), x.Rival)
		return
	case x.Staged == cluster && cluster != "":
		d.do(Step{Kind: CommitCluster, Database: db})
		return
	case x.Staged != "":
		d.do(Step{Kind: DiscardCluster, Database: db, Reason: "the application's cluster is another one"})
		return
	}
	remotes, name := s.remotes(db), db.Short()
	if len(remotes) > 0 {
		d.do(Step{Kind: JoinCluster, Database: db, Cluster: cluster, Remotes: remotes})
		d.wait("%s: joining the cluster; %s", name, s.joined())
		return
	}
	creator, alone := s.Clusters.CreatedBy, len(s.Peers) == 0
	if unit, why := s.mayServe(db); unit != "" {
		d.wait("%s: waiting for %s to serve cluster %s; %s", name, unit, cluster.Short(), why)
		return
	}
	switch {
	case creator == s.Unit:
		d.block("%s: cluster %s was created here, its file is gone, no other unit has it", name, cluster.Brief())
	case alone:
		d.block("%s: no unit has cluster %s any more; deploy the application again%s", name, cluster.Brief(), creatorIsGone(creator))
	case creator != "" && !s.exists(creator):
		// One that has joined in a hook that has not ended yet has not said so.
		d.block("%s: no unit says that it has cluster %s: see cluster-status on each (%s, which created it, is gone; if none shows it, deploy the application again)", name, cluster.Brief(), creator)
	default:
		d.wait("%s: waiting for %s to serve cluster %s", name, cmp.Or(creator, "a unit"), cluster.Short())
	}
}

// mayServe is the first peer that may have the application's cluster though nothing
// that was read says so, and why: it must not be called lost before all
// units of the model are known not to have it.
func (s State) mayServe(db ovndb.Database) (unit, why string) {
	for _, p := range s.Peers {
		switch {
		case p.Data == Unread && p.Dying:
			return p.Unit, "it is being removed, and what it publishes can't be read"
		case p.Data == Unread:
			return p.Unit, "what it publishes can't be read"
		case p.Data == NothingPublished && p.Dying:
			return p.Unit, "it is being removed, and publishes nothing"
		case p.Dying && p.Clusters[db] == "": // it may have joined in its last hook, and publishes nothing any more
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
	return " (" + creator + ", which created it, is gone)"
}

func (s State) exists(unit string) bool {
	return unit == s.Unit || slices.ContainsFunc(s.Peers, func(p Peer) bool { return p.Unit == unit })
}

// planDown judges a file on which no server runs (rule R10).
func (s State) planDown(d *Decision, db ovndb.Database, x Database) {
	name, cluster := db.Short(), s.Clusters.IDs[db]
	here := ovndb.RaftAddress(db, s.Address)
	switch {
	case x.Unusable() && x.Removed:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server was removed and can't be started on this file"})
		d.wait("%s: this unit's server was removed while it was down; it joins again", name)
	case x.TooNew:
		if !s.Packages.Unavailable && s.usable(OptionSource, OptionOverlay) {
			d.do(Step{Kind: Upgrade, Reason: name + ": its file is of a newer Open vSwitch"})
		}
		d.block("%s: file of a newer Open vSwitch than %s; look at: juju ssh %s apt-cache policy openvswitch-common", name, s.Packages.Version.OVS, s.Unit)
	case x.FileUnknown:
		d.block("%s: its file can't be read; %s (%s)", name, x.rejoin(), x.Text)
	case x.Cluster != "" && x.Cluster != cluster:
		d.block("%s: file of cluster %s, not %s; move %s away", name, x.Cluster.Brief(), cluster.Brief(), x.File.Path)
	case x.File.Outside && x.File.WasMember: // its removal may have been undone, and then its vote still counts
		d.block("%s: file ends amid a removal; %s", name, x.rejoin())
	case x.File.Outside:
		d.do(Step{Kind: ArchiveFile, Database: db, Reason: "the server was killed while it joined, and is not a member"})
		d.wait("%s: joining the cluster again; %s", name, s.joined())
	case x.File.Damage != "":
		d.block("%s: its file lacks entries; %s (%s)", name, x.rejoin(), x.File.Damage)
	case x.File.Address != "" && x.File.Address != here:
		d.block("%s: address changed: %s (the member is at %s, the unit at %s)", name, s.replace(), x.File.Address, here)
	default:
		d.starting = append(d.starting, ovndb.ServiceOf(db))
		d.wait("%s: %s", name, cmp.Or(x.Text, "starting the server"))
	}
}

// replace is what an operator types to have another unit in this one's place.
func (s State) replace() string {
	return fmt.Sprintf("juju add-unit %s; juju remove-unit %s", unitname.Application(s.Unit), s.Unit)
}

// joined counts the units that have servers in both clusters.
func (s State) joined() string {
	n := 0
	if s.members() {
		n++
	}
	for _, p := range s.Peers {
		if p.Clusters[ovndb.NB] != "" && p.Clusters[ovndb.SB] != "" {
			n++
		}
	}
	return fmt.Sprintf("%d of %d units joined", n, max(s.Units, n))
}
