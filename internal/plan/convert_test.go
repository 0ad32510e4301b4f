package plan_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func TestConversionTimer(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		size   int64
		ovs    string
		enough time.Duration
		most   time.Duration
	}{
		"empty":                   {0, "3.5.0-1", 4 * time.Second, 4 * time.Second},
		"unknown size":            {-1, "3.1.0-2", 4 * time.Second, 4 * time.Second},
		"3.1, 20 MiB":             {20 * mib, "3.1.0-2+deb12u1", 20 * time.Second, time.Minute},
		"3.1, 80 MiB":             {80 * mib, "3.1.0-2", 60 * time.Second, 2 * time.Minute},
		"2.17, 80 MiB":            {80 * mib, "2.17.9-0ubuntu0.22.04.1", 60 * time.Second, 2 * time.Minute},
		"unknown version, 80 MiB": {80 * mib, "", 60 * time.Second, 2 * time.Minute},
		"3.5, 160 MiB":            {160 * mib, "3.5.0-1", 8 * time.Second, 15 * time.Second},
		"3.2, 160 MiB":            {160 * mib, "3.2.0", 8 * time.Second, 15 * time.Second},
		"4.0, 160 MiB":            {160 * mib, "4.0.0-1", 8 * time.Second, 15 * time.Second},
		"3.10, 160 MiB":           {160 * mib, "3.10.0", 8 * time.Second, 15 * time.Second},
		"longest":                 {math.MaxInt64, "3.1.0", 5 * time.Minute, 5 * time.Minute},
	} {
		got := plan.ConversionTimer(tt.size, tt.ovs)
		assert.GreaterOrEqual(t, got, tt.enough, name)
		assert.LessOrEqual(t, got, tt.most, name)
	}
}

// After a hook was killed in any state: the timer rises in legal steps, the conversion is made at a timer that
// suffices and was not tried, and then the option's value is restored.
func TestConversion_ends_from_any_state(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	seconds := func(n int) time.Duration { return time.Duration(1+random.IntN(n)) * time.Second }
	for range 2000 {
		s := well()
		s.Settings.ElectionTimer = seconds(60)
		edit(&s, ovndb.SB, func(x *plan.Database) { x.Status.ElectionTimer = s.Settings.ElectionTimer })
		edit(&s, ovndb.NB, func(x *plan.Database) {
			x.Runs = []string{"3.1.0", "3.5.0"}[random.IntN(2)]
			x.Schema, x.Size, x.Status.ElectionTimer = plan.Drifted, random.Int64N(400<<20), seconds(300)
			x.TriedTimer = time.Duration(random.IntN(2)) * seconds(299)
		})
		fails := random.IntN(10)
		for steps := 0; convertFurther(t, &s, &fails); steps++ {
			require.Less(t, steps, 30)
		}
	}
}

// convertFurther makes the next step, which fails the given number of times, and reports whether there is one.
func convertFurther(t *testing.T, s *plan.State, fails *int) bool {
	t.Helper()
	x, d := s.Databases[ovndb.NB], plan.Decide(*s)
	switch {
	case d.Step == nil:
		require.Equal(t, s.Settings.ElectionTimer, x.Status.ElectionTimer)
		gaveUp := finding.Has(d.Findings, finding.ConversionFailed) && x.TriedTimer == 5*time.Minute
		require.True(t, x.Schema == plan.InSync || gaveUp, "%v", d)
		return false
	case d.Step.Kind == plan.SetElectionTimer:
		require.LessOrEqual(t, d.Step.Timer, 2*x.Status.ElectionTimer)
		edit(s, ovndb.NB, func(x *plan.Database) { x.Status.ElectionTimer = d.Step.Timer })
	default:
		require.Equal(t, plan.ConvertSchema, d.Step.Kind)
		require.GreaterOrEqual(t, x.Status.ElectionTimer, plan.ConversionTimer(x.Size, x.Runs))
		require.Greater(t, x.Status.ElectionTimer, x.TriedTimer)
		edit(s, ovndb.NB, func(x *plan.Database) { x.TriedTimer = min(x.Status.ElectionTimer, 5*time.Minute) })
		if *fails--; *fails < 0 {
			edit(s, ovndb.NB, func(x *plan.Database) { x.Schema = plan.InSync })
		}
	}
	return true
}

// Each member converts its own copy, so each machine needs room: a disk that fills up meanwhile costs a member. A
// unit without room reports that, and the leader waits. The election timer returns to the option's value meanwhile.
func TestConversion_waits_for_room(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	const compacts = " -> IF_NO_SPACE: ssh ovn-central/0 sudo ovs-appctl -t /run/nb.ctl ovsdb-server/compact"
	room := func(disk, memory int64) func(*plan.Database) {
		return func(x *plan.Database) {
			x.Runs, x.Schema, x.Size, x.FreeDisk, x.FreeMemory = "3.5.0", plan.Drifted, 80*mib, disk, memory
			x.Socket, x.Status.ElectionTimer = "/run/nb.sock", time.Minute
		}
	}
	peer := func(db ovndb.Database) change {
		return all(nb(room(0, 0)), func(s *plan.State) { s.Peers[1].NoRoom = map[ovndb.Database]bool{db: true} })
	}
	waits := func(found string) decided {
		return works(plan.SetElectionTimer, "nb 4s", found, "info ELECTION_TIMER_CHANGES nb Value=4000 ms Duration=1m0s")
	}
	lacks := func(what string) decided {
		return waits("error CONVERSION_LACKS_ROOM nb Reasons=MAY_TAKE (" + what + ")" + compacts)
	}
	converts := works(plan.ConvertSchema, "nb 1m0s")
	check(t, map[string]situation{
		"unknown":              {nb(room(0, 0)), converts},
		"enough":               {nb(room(224*mib, 464*mib)), converts},
		"too little disk":      {nb(room(224*mib-1, 464*mib)), lacks("DISK_LACKING 224 223")},
		"too little memory":    {nb(room(224*mib, 464*mib-1)), lacks("MEMORY_LACKING 464 463")},
		"too little of either": {nb(room(100*mib, 300*mib)), lacks("DISK_LACKING 224 100; MEMORY_LACKING 464 300")},
		"follower": {
			all(sb(room(100*mib, 464*mib)), sb(func(x *plan.Database) { x.Status.ElectionTimer = 4 * time.Second })),
			ready("error CONVERSION_LACKS_ROOM sb Reasons=MAY_TAKE (DISK_LACKING 224 100)" + compacts),
		},
		"peer":                 {peer(ovndb.NB), waits("info SCHEMA_OLDER nb Reasons=ONCE_IT_HAS_ROOM ovn-central/2")},
		"peer, other database": {peer(ovndb.SB), converts},
	})
}

func TestTrimsMemory(t *testing.T) {
	t.Parallel()
	for ovs, does := range map[string]bool{
		"2.17.9": false, "2.17.9-0ubuntu0.22.04.1": false, "3.0.0": true, "3.1.0-2+deb12u1": true, "10.0": true, "": false,
		"unknown": false,
	} {
		assert.Equal(t, does, plan.TrimsMemory(ovs), ovs)
	}
}

// upgradable returns a unit whose Northbound database has a file of 4 MiB, and the Southbound one a file of sb MiB.
func upgradable(sb int64) (plan.State, plan.UpgradeCandidate) {
	member := func(db ovndb.Database, mib int64) plan.Database {
		return plan.Database{
			Condition: ovndb.Serving, Size: mib << 20, Socket: "/var/run/ovn/ovn" + db.Short() + "_db.sock",
			Status: raft.Status{State: raft.ClusterMember, Role: raft.Follower, Leader: "aa04", ElectionTimer: 4 * time.Second},
		}
	}
	old := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	s := plan.State{
		Unit: "ovn-central/0", Packages: plan.Packages{Installed: true, Version: old},
		Databases: map[ovndb.Database]plan.Database{ovndb.NB: member(ovndb.NB, 4), ovndb.SB: member(ovndb.SB, sb)},
	}
	u := plan.UpgradeCandidate{
		Source: "cloud:jammy-caracal", Offered: ovndb.Version{OVN: "24.03.1-0", OVS: "3.1.5-0"}, Disk: 100 << 30,
		Memory: 16 << 30, Typed: juju.Version{}.Render,
		Schemas: map[ovndb.Database]ovndb.Schemas{
			ovndb.NB: {Served: "7.0.0", Packages: "7.0.0"}, ovndb.SB: {Served: "20.27.0", Packages: "20.33.0", Older: true},
		},
	}
	return s, u
}

func TestCheckUpgrade_text(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.State, *plan.UpgradeCandidate){
		"small":                func(*plan.State, *plan.UpgradeCandidate) {},
		"large-before-ovs-3.2": func(s *plan.State, _ *plan.UpgradeCandidate) { *s, _ = upgradable(160) },
		"large-since-ovs-3.2": func(s *plan.State, u *plan.UpgradeCandidate) {
			*s, _ = upgradable(160)
			u.Offered.OVS = "3.3.0-1"
		},
		"too-large": func(s *plan.State, u *plan.UpgradeCandidate) {
			*s, _ = upgradable(500)
			u.Disk, u.Memory = 1<<30, 2<<30
		},
		"nothing-newer": func(s *plan.State, u *plan.UpgradeCandidate) {
			u.Offered = s.Packages.Version
			u.Schemas[ovndb.SB] = ovndb.Schemas{Served: "20.27.0", Packages: "20.27.0"}
		},
		"source-that-can-not-be-looked-into": func(_ *plan.State, u *plan.UpgradeCandidate) {
			u.Offered, u.Unknown = ovndb.Version{}, "cannot look into the package source: a personal archive can be "+
				"looked into only once it was added"
			for db, schema := range u.Schemas {
				u.Schemas[db] = ovndb.Schemas{Served: schema.Served}
			}
		},
		"units-that-block": func(s *plan.State, u *plan.UpgradeCandidate) {
			servers := map[ovndb.Database]raft.ID{ovndb.NB: "aaaaaaaa-e8e4-4719-b344-902444227dd7"}
			x := s.Databases[ovndb.NB]
			x.Damage = finding.Quote("entries 5 to 7")
			s.Databases[ovndb.NB], s.Databases[ovndb.SB] = x, plan.Database{Condition: ovndb.Down}
			u.Schemas[ovndb.SB] = ovndb.Schemas{Packages: "20.33.0"}
			s.Peers = []plan.Peer{
				{Unit: "ovn-central/1", Data: published, Servers: servers},
				{Unit: "ovn-central/2", Data: published, Dying: true},
				{Unit: "ovn-central/3", Data: published},
				{Unit: "ovn-central/4"},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, u := upgradable(5)
			change(&s, &u)
			r := s.CheckUpgrade(u)
			goldentest.Equal(t, "upgrade-check/"+name+".txt", document.Upgrade(r))
			if slices.Contains([]string{"small", "units-that-block"}, name) { // the texts have all values
				goldentest.Document(t, "upgrade-check/"+name, r)
			}
			for _, d := range r.Databases {
				assert.LessOrEqual(t, d.LeastGapSeconds, d.MostGapSeconds)
				if d.Converted && d.NeededTimerSeconds < 300 {
					assert.LessOrEqual(t, d.MostGapSeconds, d.NeededTimerSeconds, "a member that is silent for longer loses the lead")
				}
			}
		})
	}
}

// The version of Open vSwitch, not the schema, determines which servers can read the file afterwards. Each row is a
// version and its format according to NEWS of Open vSwitch.
func TestCheckUpgrade_file_format(t *testing.T) {
	t.Parallel()
	for installed, format := range map[string]string{
		"":                        "",
		"2.8.1-0ubuntu1":          "",
		"2.13.8-0ubuntu1":         "2.9",
		"2.15.0-1":                "2.15",
		"2.17.9-0ubuntu0.22.04.1": "2.15",
		"3.1.7-1":                 "2.15",
		"3.2.0-1":                 "3.2",
		"3.3.0-1":                 "3.2",
		"4.0.0~git1":              "3.2",
	} {
		s, u := upgradable(5)
		s.Packages.Version.OVS, u.Offered.OVS = installed, "3.5.0-1"
		for _, d := range s.CheckUpgrade(u).Databases {
			assert.Equal(t, format, d.FileFormat, "%s with %q", d.Name, installed)
			assert.Equal(t, "3.2", d.BroughtFileFormat, d.Name)
		}
		text := document.Upgrade(s.CheckUpgrade(u))
		assert.Equal(t, format != "3.2", strings.Contains(text, "no ovsdb-server before 3.2"), text)
	}
}
