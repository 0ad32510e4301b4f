package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// R10 and what else there can be of a database on a machine, once the application
// has its clusters.
func TestEveryConditionOfADatabase(t *testing.T) {
	t.Parallel()
	const standalone = "nb: standalone; stop ovn-ovsdb-server-nb and move /var/lib/ovn/ovnnb_db.db away"
	const newer = "nb: file of a newer Open vSwitch than 3.3; look at: juju ssh ovn-central/0 apt-cache policy openvswitch-common"
	outdated := func(s *plan.State) { s.Settings.Source = "dalmatian" }
	unavailable := func(s *plan.State) { s.Packages.Unavailable = true }
	check(t, map[string]situation{
		"absent": {
			only(plan.Database{Condition: ovndb.Absent}),
			decided{step: "join the cluster of nb", waiting: []string{"nb: joining the cluster; 2 of 3 units joined"}},
		},
		"absent, and its own cluster is the one": {
			only(plan.Database{Condition: ovndb.Absent, Staged: nbCluster}), decided{step: "put in place the cluster of nb"},
		},
		"absent, and another cluster is staged": {
			only(plan.Database{Condition: ovndb.Absent, Staged: otherCluster}),
			decided{step: "discard the unpublished cluster of nb (the application's cluster is another one)"},
		},
		"left": {
			only(plan.Database{Condition: ovndb.Left}),
			decided{
				step:    "rename the file of nb (the server has left the cluster or was removed)",
				waiting: []string{"nb: this unit's server was removed; it joins again as a new member"},
			},
		},
		"standalone": {only(plan.Database{Condition: ovndb.Standalone, File: plan.File{Path: "/var/lib/ovn/ovnnb_db.db"}}), decided{blocked: []string{standalone}}},
		"failed": {
			only(plan.Database{Condition: ovndb.Failed, Text: "the server runs but has given up the database"}),
			decided{
				step:    "restart ovn-ovsdb-server-nb (the server has given up the database)",
				blocked: []string{"nb: the server runs but has given up the database"},
			},
		},
		"failed, and its file lacks what it has acknowledged": {
			only(plan.Database{Condition: ovndb.Failed, Text: "it has given up", Cluster: nbCluster, File: lacking, Rejoin: rejoin}),
			decided{blocked: []string{"nb: its file lacks entries; run: " + rejoin + " (" + lacking.Damage + "; it has given up)"}},
		},
		"failed, with such a file, and kicked since": {
			only(plan.Database{Condition: ovndb.Failed, Cluster: nbCluster, File: lacking, Removed: true, Rejoin: rejoin}),
			decided{
				step:    "rename the file of nb (the server was removed and can't be started on this file)",
				waiting: []string{"nb: this unit's server was removed; it joins again as a new member"},
			},
		},
		"hung": {
			only(plan.Database{Condition: ovndb.Hung, Text: "the server hangs: no answer within 2 s"}),
			decided{blocked: []string{"nb: the server hangs; if this lasts, run: juju run ovn-central/0 restart-services services=ovn-ovsdb-server-nb (the server hangs: no answer within 2 s)"}},
		},
		"unreadable": {
			only(plan.Database{Condition: ovndb.Unreadable, Text: "cannot read the status"}),
			decided{blocked: []string{"nb: cannot read the status"}},
		},
		"starting": {
			only(plan.Database{Condition: ovndb.Unreadable, Text: "cannot ask the server", Starting: true}),
			decided{waiting: []string{"nb: the server is starting (if this lasts, look at: juju ssh ovn-central/0 systemctl status ovn-ovsdb-server-nb)"}},
		},
		"down": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"})),
			decided{step: "start ovn-ovsdb-server-nb", waiting: []string{"nb: the server is not running"}},
		},
		"down, as one that joins without knowing the cluster": {
			only(down("", plan.File{Address: "ssl:10.0.0.0:6643"})),
			decided{step: "start ovn-ovsdb-server-nb", waiting: []string{"nb: the server is not running"}},
		},
		"down, and the source has changed": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"}), outdated),
			decided{step: "upgrade (the source has changed, and a server is down)", waiting: []string{"nb: the server is not running"}},
		},
		"down, and what the source has can't be had": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"}), outdated, unavailable),
			decided{step: "start ovn-ovsdb-server-nb", waiting: []string{"nb: the server is not running"}},
		},
		"down, since its file is of a newer release": {
			only(tooNew()), decided{step: "upgrade (nb: its file is of a newer Open vSwitch)", blocked: []string{newer}},
		},
		"down, since its file is of a newer release, and the source has changed": {
			only(tooNew(), outdated), decided{step: "upgrade (nb: its file is of a newer Open vSwitch)", blocked: []string{newer}},
		},
		"down, since its file is of a newer release that can't be had": {
			only(tooNew(), unavailable), decided{blocked: []string{newer}},
		},
		"down, of another cluster": {
			only(down(otherCluster, plan.File{Address: "ssl:10.0.0.0:6643"})),
			decided{blocked: []string{"nb: file of cluster dddd0009, not cccc0001; move /var/lib/ovn/ovnnb_db.db away"}},
		},
		"down, of another cluster, and outside of it": {
			only(down(otherCluster, plan.File{Outside: true})),
			decided{blocked: []string{"nb: file of cluster dddd0009, not cccc0001; move /var/lib/ovn/ovnnb_db.db away"}},
		},
		"down, killed while it joined": {
			only(down(nbCluster, plan.File{Outside: true})),
			decided{
				step:    "rename the file of nb (the server was killed while it joined, and is not a member)",
				waiting: []string{"nb: joining the cluster again; 2 of 3 units joined"},
			},
		},
		"down, killed while it was removed, as far as is known": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: plan.File{Outside: true, WasMember: true}, Rejoin: rejoin}),
			decided{blocked: []string{"nb: file ends amid a removal; run: " + rejoin}},
		},
		"down, killed while it was removed": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: plan.File{Outside: true, WasMember: true}, Removed: true}),
			decided{
				step:    "rename the file of nb (the server was removed and can't be started on this file)",
				waiting: []string{"nb: this unit's server was removed while it was down; it joins again"},
			},
		},
		"down, at another address": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.9:6643"})),
			decided{blocked: []string{"nb: address changed: juju add-unit ovn-central; juju remove-unit ovn-central/0 " +
				"(the member is at ssl:10.0.0.9:6643, the unit at ssl:10.0.0.0:6643)"}},
		},
		"down, and the file can't be read": {
			only(plan.Database{Condition: ovndb.Down, FileUnknown: true, Text: "its file can't be used: EOF; the server is not running", Rejoin: rejoin}),
			decided{blocked: []string{"nb: its file can't be read; run: " + rejoin + " (its file can't be used: EOF; the server is not running)"}},
		},
		"down, and the file can't be read, and no other unit has another": {
			only(plan.Database{Condition: ovndb.Down, FileUnknown: true, Text: "its file can't be used: EOF; the server is not running", File: plan.File{Path: "/nb"}}),
			decided{blocked: []string{"nb: its file can't be read; bring /nb back from a backup (its file can't be used: EOF; the server is not running)"}},
		},
		"down, and the file lacks entries": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: lacking, Rejoin: rejoin}),
			decided{blocked: []string{"nb: its file lacks entries; run: " + rejoin + " (record 9 has entry 8, but the one before it is 6)"}},
		},
		"down, the file lacks entries, and it was kicked": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: lacking, Rejoin: rejoin, Removed: true}),
			decided{
				step:    "rename the file of nb (the server was removed and can't be started on this file)",
				waiting: []string{"nb: this unit's server was removed while it was down; it joins again"},
			},
		},
		"down, of another cluster, and the file lacks entries": {
			only(plan.Database{Condition: ovndb.Down, Cluster: otherCluster, File: plan.File{Path: "/nb", Damage: lacking.Damage}}),
			decided{blocked: []string{"nb: file of cluster dddd0009, not cccc0001; move /nb away"}},
		},
	})
}

// Servers start at the same time, once the files of both are in their places, and
// none waits for what waits for other units.
func TestServersOfBothDatabasesStartTogether(t *testing.T) {
	t.Parallel()
	starting := func(text string) []string { return []string{"nb: " + text, "sb: the server is not running"} }
	both := func(nb plan.Database) func(*plan.State) {
		return func(s *plan.State) {
			set(s, nb, ovndb.NB)
			set(s, down(sbCluster, plan.File{Address: "ssl:10.0.0.0:6644"}), ovndb.SB)
		}
	}
	const failed = "the server runs but has given up the database"
	check(t, map[string]situation{
		"both are down": {
			both(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"})),
			decided{step: "start ovn-ovsdb-server-nb ovn-ovsdb-server-sb", waiting: starting("the server is not running")},
		},
		"one has yet to get its file": {
			both(plan.Database{Condition: ovndb.Absent}),
			decided{step: "join the cluster of nb", waiting: starting("joining the cluster; 2 of 3 units joined")},
		},
		"one is to be restarted in its turn": {
			both(plan.Database{Condition: ovndb.Failed, Text: failed}),
			decided{step: "start ovn-ovsdb-server-sb", blocked: []string{"nb: " + failed}, waiting: []string{"sb: the server is not running"}},
		},
	})
}

// rejoin is the command by which another unit kicks a server that can't be started.
const rejoin = "juju run ovn-central/1 kick nb-identity=aaaa0001 force=true i-really-mean-it=true"

var lacking = plan.File{
	Address: "ssl:10.0.0.0:6643",
	Damage:  "record 9 has entry 8, but the one before it is 6",
}

func TestServerWhoseFileLacksEntriesWritesItAnewAndMustNotBeStopped(t *testing.T) {
	t.Parallel()
	const text = "sb: file lacks entries, don't stop it: make space, or run: juju add-unit ovn-central; juju remove-unit ovn-central/0"
	assert.LessOrEqual(t, strings.Index(text, "make space"), 120-len("make space"), "Juju shows 120 characters")
	damaged := func(unmended string) func(*plan.State) {
		return func(s *plan.State) {
			edit(s, ovndb.SB, func(x *plan.Database) { x.Damage, x.Unmended = "record 9 has entry 8", unmended })
			s.Pending = map[ovndb.Service]string{ovndb.SouthboundServer: "upgrade from 1 to 2"}
			s.Settings.AutoRestarts = true
		}
	}
	check(t, map[string]situation{
		"at once": {damaged(""), decided{step: "rewrite the file of sb (record 9 has entry 8)", blocked: []string{text + " (record 9 has entry 8)"}}},
		"not if it has failed in this hook, and no restart either": {damaged("No space left"), decided{blocked: []string{text + " (No space left)"}}},
		"on a disk that is full, where there may be enough for it": {func(s *plan.State) {
			damaged("")(s)
			s.Disk = "no space left on the disk of /var/lib/ovn (12 KiB free); make space"
		}, decided{step: "rewrite the file of sb (record 9 has entry 8)", blocked: []string{
			"no space left on the disk of /var/lib/ovn (12 KiB free); make space", text + " (record 9 has entry 8)",
		}}},
	})
}

// A rewrite needs no certificate. A start does, and then the status names the file and its remedy, too.
func TestFileThatLacksEntriesComesFirst(t *testing.T) {
	t.Parallel()
	const missing = "'certificates' missing; run: juju integrate ovn-central:certificates vault"
	const serves = "nb: file lacks entries, don't stop it: make space, or run: juju add-unit ovn-central; juju remove-unit ovn-central/0 (it lacks entry 9)"
	const down = "nb: its file lacks entries; run: rejoin it (it lacks entry 9)"
	without := func(change func(*plan.Database)) func(*plan.State) {
		return having(nil, nil, func(s *plan.State) {
			s.Certificates.Related = false
			edit(s, ovndb.NB, change)
		})
	}
	damaged := func(x *plan.Database) { x.Damage = "it lacks entry 9" }
	stopped := func(c ovndb.Condition) func(*plan.Database) {
		return func(x *plan.Database) {
			*x = plan.Database{Condition: c, Cluster: nbCluster, Rejoin: "rejoin it", File: plan.File{Damage: "it lacks entry 9"}}
		}
	}
	issued := without(damaged)
	check(t, map[string]situation{
		"serving": {without(damaged), decided{step: "rewrite the file of nb (it lacks entry 9)", blocked: []string{serves, missing}}},
		"serving, and a certificate is installed next": {func(s *plan.State) {
			issued(s)
			s.Certificates.Related, s.Certificates.Issued = true, certificate("cert0", "A")
		}, decided{step: "rewrite the file of nb (it lacks entry 9)", blocked: []string{serves}}},
		"serving, paused before its server was stopped": {func(s *plan.State) {
			s.Paused = true
			edit(s, ovndb.NB, damaged)
		}, decided{
			step: "rewrite the file of nb (it lacks entry 9)", blocked: []string{serves},
			notes: []string{"paused; run: juju run ovn-central/0 resume"},
		}},
		"serving, without an address": {func(s *plan.State) {
			s.Address = ""
			edit(s, ovndb.NB, damaged)
		}, decided{
			step: "rewrite the file of nb (it lacks entry 9)", blocked: []string{serves},
			waiting: []string{"no ovsdb-peer address: juju exec --unit ovn-central/0 'network-get ovsdb-peer'"},
		}},
		"serving, before the firewall and a new certificate": {func(s *plan.State) {
			s.Firewall, s.Certificates.Issued = plan.Drifted, certificate("cert1", "A")
			edit(s, ovndb.NB, damaged)
		}, decided{step: "rewrite the file of nb (it lacks entry 9)", blocked: []string{serves}}},
		"serving, on a unit that is being removed": {func(s *plan.State) {
			s.Dying = true
			edit(s, ovndb.NB, damaged)
		}, decided{step: "rewrite the file of nb (it lacks entry 9)", blocked: []string{serves}}},
		"down": {without(stopped(ovndb.Down)), decided{blocked: []string{down, missing}}},
		"given up": {without(stopped(ovndb.Failed)), decided{blocked: []string{
			"nb: its file lacks entries; run: rejoin it (it lacks entry 9; )", missing,
		}}},
		"superseded": {func(s *plan.State) {
			edit(s, ovndb.NB, damaged)
			s.Clusters.IDs[ovndb.NB] = otherCluster
			s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
		}, decided{
			step:    "rename the file of nb (it is of a cluster that was given up in a recovery)",
			waiting: []string{"nb: its copy is of a cluster given up in a recovery; it joins the new one"},
		}},
		"paused":  {func(s *plan.State) { without(stopped(ovndb.Down))(s); s.Paused = true }, decided{blocked: []string{missing}}},
		"removed": {without(func(x *plan.Database) { stopped(ovndb.Down)(x); x.Removed = true }), decided{blocked: []string{missing}}},
		"of another cluster": {
			without(func(x *plan.Database) { stopped(ovndb.Down)(x); x.Cluster = sbCluster }),
			decided{blocked: []string{missing}},
		},
	})
}
