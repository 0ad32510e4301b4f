package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
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

// From any state that a killed hook has left: the timer rises in legal steps, the conversion is made at one that
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

// convertFurther makes the next step, which fails so many times, and reports whether there is one.
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

// A condition that upgrade-check warns about delays the conversion: a disk that fills up during it costs a member.
func TestConversion_waits_for_disk_and_memory(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	const compacts = " -> IF_NO_SPACE: ssh ovn-central/0 sudo ovs-appctl -t /run/nb.ctl ovsdb-server/compact"
	for name, tt := range map[string]struct {
		disk, memory int64
		lacks        string
	}{
		"unknown":              {0, 0, ""},
		"enough":               {224 * mib, 464 * mib, ""},
		"too little disk":      {224*mib - 1, 464 * mib, "224 MiB 223 MiB"},
		"too little memory":    {224 * mib, 464*mib - 1, "464 MiB 463 MiB"},
		"too little of either": {100 * mib, 300 * mib, "224 MiB 100 MiB 464 MiB 300 MiB"},
	} {
		s := well()
		edit(&s, ovndb.NB, func(x *plan.Database) {
			x.Runs, x.Schema, x.Size, x.FreeDisk, x.FreeMemory = "3.5.0", plan.Drifted, 80*mib, tt.disk, tt.memory
			x.Socket = "/run/nb.sock"
			x.Status.ElectionTimer = time.Minute
		})
		d := plan.Decide(s)
		if tt.lacks == "" {
			require.NotNil(t, d.Step, name)
			assert.Equal(t, plan.ConvertSchema, d.Step.Kind, name)
			continue
		}
		require.NotEmpty(t, d.Findings, name)
		assert.Equal(t, "error CONVERSION_LACKS_ROOM nb Detail="+tt.lacks+compacts, brief(d.Findings[0]), name)
		require.NotNil(t, d.Step, name)
		assert.Equal(t, plan.SetElectionTimer, d.Step.Kind, "%s: the option's timer comes back meanwhile", name)
	}
}

// Each member converts its own copy, so each machine needs room: a unit without it reports that in its status, and the
// leader waits.
func TestConversion_waits_for_each_member(t *testing.T) {
	t.Parallel()
	s := well()
	edit(&s, ovndb.NB, func(x *plan.Database) {
		x.Runs, x.Schema, x.Size, x.Status.ElectionTimer = "3.5.0", plan.Drifted, 80<<20, time.Minute
	})
	s.Peers[1].NoRoom = map[ovndb.Database]bool{ovndb.NB: true}
	d := plan.Decide(s)
	require.NotEmpty(t, d.Findings)
	assert.Equal(t, "info SCHEMA_OLDER nb Detail=ovn-central/2", brief(d.Findings[0]))
	require.NotNil(t, d.Step)
	assert.Equal(t, plan.SetElectionTimer, d.Step.Kind, "the option's timer comes back meanwhile")

	s.Peers[1].NoRoom = map[ovndb.Database]bool{ovndb.SB: true}
	d = plan.Decide(s)
	require.NotNil(t, d.Step)
	assert.Equal(t, plan.ConvertSchema, d.Step.Kind)

	follower := well()
	edit(&follower, ovndb.SB, func(x *plan.Database) {
		x.Schema, x.Size, x.FreeDisk, x.FreeMemory, x.Socket = plan.Drifted, 80<<20, 100<<20, 1<<40, "/run/sb.sock"
	})
	assert.False(t, follower.Databases[ovndb.SB].IsRaftLeader())
	assert.True(t, finding.Has(plan.Decide(follower).Findings, finding.ConversionLacksRoom))
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
