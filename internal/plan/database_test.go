package plan_test

import (
	"slices"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

const (
	nbPath   = "/var/lib/ovn/ovnnb_db.db"
	nbFile   = " Path=" + nbPath + " Service=" + nbServer
	nbNoPath = " Service=" + nbServer
	gap      = "record 9 has entry 8, but the one before it is 6"
)

// rejoin is the command that replaces this unit's server.
var rejoin = command.Command{
	Unit: "ovn-central/0", Action: "rejoin", Params: []command.Param{{Key: "database", Value: "nb"}},
}

var notRunning = finding.Reason{Code: finding.ServerNotRunning}

// down returns a stopped server at this unit's address.
func down(cluster raft.ID, f plan.File) plan.Database {
	f.Path = nbPath
	return plan.Database{Condition: ovndb.Down, Cluster: cluster, Why: notRunning, File: f}
}

// R10, and every other condition of a database, once the application has its clusters.
func TestDecide_every_condition(t *testing.T) {
	t.Parallel()
	outdated := func(s *plan.State) { s.Settings.Source = "dalmatian" }
	unavailable := func(s *plan.State) { s.Packages.Unavailable = true }
	is := func(c ovndb.Condition, f plan.File, changes ...func(*plan.Database)) change {
		x := plan.Database{Condition: c, Cluster: nbCluster, File: f, Why: finding.Quote("text"), Rejoin: rejoin}
		for _, change := range changes {
			change(&x)
		}
		return only(x)
	}
	staged := func(id raft.ID) func(*plan.Database) { return func(x *plan.Database) { x.Staged = id } }
	removed := func(x *plan.Database) { x.Removed = true }
	unread := func(x *plan.Database) { x.FileUnknown = true }
	hangs := func(x *plan.Database) {
		x.Why = finding.Reason{Code: finding.ServerSilentFor, Because: []finding.Reason{finding.Quote("no answer")}}
	}
	only1 := func(x *plan.Database) { x.Rejoin, x.File.Path = command.Command{}, nbPath }
	other := func(x *plan.Database) { x.Cluster, x.File.Path = otherCluster, nbPath }
	// leaderless makes units publish a copy without a leader.
	leaderless := func(c change, units ...string) change {
		return all(c, func(s *plan.State) {
			for i, p := range s.Peers {
				if slices.Contains(units, p.Unit) {
					s.Peers[i].Copies = map[ovndb.Database]recovery.Copy{ovndb.NB: {Cluster: nbCluster, Term: 2, Index: 9}}
				}
			}
		})
	}
	none := plan.File{}
	own := plan.File{Address: "ssl:10.0.0.0:6643"}
	lacking := plan.File{Address: own.Address, Damage: finding.Quote(gap)}
	outside := plan.File{Outside: true}
	cutOff := plan.File{Outside: true, WasMember: true}
	tooNew := down(nbCluster, own)
	tooNew.TooNew = true
	const (
		joins       = "waiting SERVER_JOINING nb Count=2 Total=3"
		gone        = "waiting SERVER_REMOVED nb"
		isDown      = "waiting SERVER_DOWN nb" + nextHook
		isTooNew    = "error FILE_TOO_NEW nb Version=3.3 -> ssh ovn-central/0 apt-cache policy openvswitch-common"
		ofOther     = "error FILE_OF_OTHER_CLUSTER nb Cluster=dddd0009 Other=cccc0001" + nbFile + moveAway
		lasts       = " -> IF_THIS_LASTS: "
		unreadable  = "error FILE_UNREADABLE nb"
		unusable    = "error FILE_UNUSABLE nb" + nbNoPath + " Detail=" + gap
		restartsNB  = "ovn-central/0 restart-services services=" + nbServer
		standalone  = "error DATABASE_STANDALONE nb" + nbFile + moveAway
		isAtAnother = "error ADDRESS_CHANGED nb Other=ssl:10.0.0.0:6643 Address=ssl:10.0.0.9:6643" + replaceUnit
	)
	check(t, map[string]situation{
		"absent":               {is(ovndb.Absent, none), does(plan.JoinCluster, "nb", joins)},
		"absent, staged":       {is(ovndb.Absent, none, staged(nbCluster)), does(plan.CommitCluster, "nb")},
		"absent, other staged": {is(ovndb.Absent, none, staged(otherCluster)), does(plan.DiscardCluster, "nb")},
		"left":                 {is(ovndb.Left, none), does(plan.ArchiveFile, "nb", gone)},
		"standalone":           {is(ovndb.Standalone, plan.File{Path: nbPath}), finds(standalone)},
		"failed": {
			is(ovndb.Failed, none), does(plan.Restart, nbServer, "error SERVER_FAILED nb Path=."+makeSpace),
		},
		"failed, lacks entries":  {is(ovndb.Failed, lacking), finds(unusable + " Reasons=QUOTED text" + rejoinNB)},
		"failed, lacks, removed": {is(ovndb.Failed, lacking, removed), does(plan.ArchiveFile, "nb", gone)},
		"hung":                   {is(ovndb.Hung, none, hangs), finds("error SERVER_HANGS nb Reasons=QUOTED no answer" + lasts + restartsNB)},
		"unreadable": {
			is(ovndb.Unreadable, none), finds("error SERVER_UNREADABLE nb" + nbNoPath + " Detail=text"),
		},
		"down":                  {only(down(nbCluster, own)), does(plan.Start, nbServer, isDown)},
		"down, unknown cluster": {only(down("", own)), does(plan.Start, nbServer, isDown)},
		"down, outdated":        {only(down(nbCluster, own), outdated), does(plan.Upgrade, "", isDown)},
		"down, outdated, unavailable": {
			only(down(nbCluster, own), outdated, unavailable), does(plan.Start, nbServer, isDown),
		},
		"too new":                {only(tooNew), does(plan.Upgrade, "", isTooNew)},
		"too new, outdated":      {only(tooNew, outdated), does(plan.Upgrade, "", isTooNew)},
		"too new, unavailable":   {only(tooNew, unavailable), finds(isTooNew)},
		"other cluster":          {is(ovndb.Down, own, other), finds(ofOther)},
		"other cluster, outside": {is(ovndb.Down, outside, other), finds(ofOther)},
		"other cluster, lacks":   {is(ovndb.Down, lacking, other), finds(ofOther)},
		"killed while joining":   {only(down(nbCluster, outside)), does(plan.ArchiveFile, "nb", joins)},
		"cut off":                {is(ovndb.Down, cutOff), finds("error FILE_CUT_OFF nb" + nbNoPath + rejoinNB)},
		"cut off, removed":       {is(ovndb.Down, cutOff, removed), does(plan.ArchiveFile, "nb", gone)},
		"other address":          {is(ovndb.Down, plan.File{Address: "ssl:10.0.0.9:6643"}), finds(isAtAnother)},
		"file unread":            {is(ovndb.Down, none, unread), finds(unreadable + nbNoPath + " Detail=text" + rejoinNB)},
		"file unread, only copy": {
			is(ovndb.Down, none, unread, only1), finds(unreadable + nbFile + " Detail=text" + restoreFile),
		},
		"lacks entries":          {is(ovndb.Down, lacking), finds(unusable + rejoinNB)},
		"lacks entries, removed": {is(ovndb.Down, lacking, removed), does(plan.ArchiveFile, "nb", gone)},
		"lacks entries, no quorum": {
			leaderless(is(ovndb.Down, lacking), "ovn-central/1", "ovn-central/2"),
			finds(unusable + " -> ovn-central/1 recover dry-run=true"),
		},
		"lacks entries, one unit may have a leader": {
			leaderless(is(ovndb.Down, lacking), "ovn-central/2"), finds(unusable + rejoinNB),
		},
		"starting": {
			is(ovndb.Unreadable, none, func(x *plan.Database) { x.Starting = true }),
			finds("waiting SERVER_STARTING nb" + lasts + "ssh ovn-central/0 systemctl status " + nbServer),
		},
	})
}

// Neither a missing certificate nor a pause keeps a file from being rewritten or reported. TestRules_data_come_first
// shows that for all states.
func TestDecide_damaged_file_comes_first(t *testing.T) {
	t.Parallel()
	const (
		lacks     = "error FILE_LACKS_ENTRIES nb Path=. Detail=it lacks entry 9" + makeSpaceOrReplace
		unusable  = "error FILE_UNUSABLE nb Service=ovn-ovsdb-server-nb Detail=it lacks entry 9" + rejoinNB
		givenUp   = "waiting COPY_GIVEN_UP nb"
		malformed = "error PUBLISHED_DATA_INVALID Detail=no ID"
	)
	damaged := nb(func(x *plan.Database) { x.Damage = finding.Quote("it lacks entry 9") })
	stopped := func(c ovndb.Condition) change {
		return nb(func(x *plan.Database) {
			damaged := plan.File{Damage: finding.Quote("it lacks entry 9")}
			*x = plan.Database{Condition: c, Cluster: nbCluster, Rejoin: rejoin, File: damaged}
		})
	}
	without := having(nil, nil, func(s *plan.State) { s.Certificates.Related = false })
	supersede := func(s *plan.State) {
		s.Clusters.IDs[ovndb.NB] = otherCluster
		s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
	}
	check(t, map[string]situation{
		"serving": {all(without, damaged), does(plan.RewriteFile, "nb", lacks, unrelated)},
		"serving, data malformed": {
			all(damaged, func(s *plan.State) { s.Problem = finding.Quote("no ID") }),
			does(plan.RewriteFile, "nb", lacks, malformed),
		},
		"serving, upgrade interrupted": {
			all(damaged, func(s *plan.State) { s.Packages.Installed = false }), does(plan.RewriteFile, "nb", lacks),
		},
		"rewrite failed, no restart": {
			all(damaged, nb(func(x *plan.Database) { x.RewriteFailure = "No space left" }), func(s *plan.State) {
				s.Pending = map[ovndb.Service]string{ovndb.NorthboundServer: "upgrade"}
			}), finds("error FILE_LACKS_ENTRIES nb Path=. Detail=No space left" + makeSpaceOrReplace),
		},
		"down":         {all(without, stopped(ovndb.Down)), finds(unusable, unrelated)},
		"failed":       {all(without, stopped(ovndb.Failed)), finds(unusable, unrelated)},
		"down, paused": {all(stopped(ovndb.Down), func(s *plan.State) { s.Paused = true }), finds(unusable, paused)},
		"superseded":   {all(damaged, supersede), does(plan.ArchiveFile, "nb", givenUp)},
		"superseded, no certificate": {
			all(supersede, func(s *plan.State) { s.Certificates = plan.Certificates{} }),
			does(plan.ArchiveFile, "nb", givenUp, unrelated),
		},
		"removed": {
			all(without, stopped(ovndb.Down), nb(func(x *plan.Database) { x.Removed = true })), finds(unrelated),
		},
		"other cluster": {
			all(without, stopped(ovndb.Down), nb(func(x *plan.Database) { x.Cluster = sbCluster })), finds(unrelated),
		},
	})
}

// A server that has skipped an entry of its log serves different data. No client is sent to it, and an operator
// decides what happens to it.
func TestDecide_inconsistent_server(t *testing.T) {
	t.Parallel()
	const differ, detail = "error DATA_DIFFER sb", " Service=" + sbServer + " Reasons=NOT_APPLIED (QUOTED duplicate row)"
	differs := func(change func(*plan.Database)) change {
		return sb(func(x *plan.Database) {
			x.Inconsistent.Code, x.Inconsistent.Because = finding.NotApplied, []finding.Reason{finding.Quote("duplicate row")}
			x.Rejoin = rejoin
			change(x)
		})
	}
	check(t, map[string]situation{
		"follower": {differs(func(*plan.Database) {}), finds(differ + detail + rejoinNB)},
		"leader": {
			differs(func(x *plan.Database) { x.Status.Role, x.Status.Leader = raft.Leader, raft.Self }),
			finds(differ + detail + rejoinNB),
		},
		"removed": {
			differs(func(x *plan.Database) { disconnect(x); x.Removed = true }),
			does(plan.Leave, "sb", differ+detail+rejoinNB, "waiting SERVER_REMOVED sb"),
		},
		"only copy": {
			differs(func(x *plan.Database) { x.Rejoin, x.File.Path = command.Command{}, "/sb" }),
			finds(differ + " Path=/sb" + detail + restoreFile),
		},
	})
}
