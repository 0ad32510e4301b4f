package membership

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// R8: the member may disappear from the configuration before the kicking unit has recorded the removal.
func TestFormerMembers_are_known_by_history_record_or_intent(t *testing.T) {
	t.Parallel()
	const once, recorded, kicked, joins raft.ID = "aaaaaaaa-284d-47b2-9acc-fb82170132ed",
		"bbbbbbbb-284d-47b2-9acc-fb82170132ed", "cccccccc-284d-47b2-9acc-fb82170132ed", "dddddddd-284d-47b2-9acc-fb82170132ed"
	m := observe.Application{
		History:   relation.History{ovndb.NB: {once: {Unit: "ovn-central/3"}}},
		Published: relation.UnitIdentities{"ovn-central/4": {ovndb.NB: {Server: joins}}},
	}
	former := func(lock string) (ids []raft.ID) {
		for _, p := range formerMembers(m, ovndb.NB, map[string]string{
			observe.RemovedPrefix + string(recorded): "ovn-central/2, kicked", observe.LockKey: lock,
		}) {
			ids = append(ids, p.ID)
		}
		return ids
	}
	lock := lease.Record{}.Taken("ovn-central/0", 1).WithIntent(lease.Intent{ID: string(kicked), Kind: lease.Kick})
	assert.ElementsMatch(t, []raft.ID{once, recorded, kicked}, former(lock.String()))
	assert.ElementsMatch(t, []raft.ID{once, recorded}, former("damaged"))
}

// R0: a member that has lost entries is down. Records of removed members do not count.
func TestR0_damaged_ignores_removed_members(t *testing.T) {
	t.Parallel()
	const member, joined, gone raft.ID = "aaaaaaaa-284d-47b2-9acc-fb82170132ed",
		"bbbbbbbb-284d-47b2-9acc-fb82170132ed", "cccccccc-284d-47b2-9acc-fb82170132ed"
	h := &haltOperation{
		server: observe.ServerState{Database: ovndb.NB},
		log:    raftfile.Log{Addresses: map[raft.ID]string{member: "ssl:192.0.2.1:6643"}},
		removal: &removal{application: observe.Application{Published: relation.UnitIdentities{
			"ovn-central/1": {ovndb.NB: {Server: joined}}, "ovn-central/2": {ovndb.SB: {Server: gone}},
		}}},
	}
	ids := map[string]string{"neutron:revision": "1"}
	for _, id := range []raft.ID{member, joined, gone} {
		ids[observe.DamagedPrefix+string(id)] = "record 9 has entry 8"
	}
	assert.ElementsMatch(t, []raft.ID{member, joined}, h.damaged(ids))
	ids[observe.RemovedPrefix+string(member)], ids[observe.RemovedPrefix+string(joined)] = "removed", "removed"
	assert.Empty(t, h.damaged(ids))
}

// R5: a write to a large database may take longer than the TTL of a small one's lock. A holder that renews in time
// must not lose its lock meanwhile.
func TestR5_lock_TTL_exceeds_slowest_renewal(t *testing.T) {
	t.Parallel()
	c := &Changer{Machine: &observe.Machine{Control: ovsctl.Control{Paths: ovndb.Paths{DB: t.TempDir()}}}}
	for size, want := range map[int64]time.Duration{
		0: 17 * time.Second, 160 << 20: 77 * time.Second, 1 << 40: 287 * time.Second,
	} {
		file, err := os.Create(c.Control.Paths.File(ovndb.SB))
		require.NoError(t, err)
		require.NoError(t, file.Truncate(size))
		require.NoError(t, file.Close())
		ttl := c.lockTTL(ovndb.SB, time.Second)
		assert.Equal(t, want, ttl, "%d bytes", size)
		assert.Greater(t, ttl-ttl/3, c.StorePatience(ovndb.SB), "%d bytes: it is renewed after a third", size)
	}
}

// A staying unit keeps waiting while all others are being removed.
func TestAbortIfTearingDown(t *testing.T) {
	t.Parallel()
	const unit = "ovn-central/0"
	goal := func(own, other string) map[string]juju.UnitGoal {
		return map[string]juju.UnitGoal{unit: {Status: own}, "ovn-central/1": {Status: other}}
	}
	for name, tt := range map[string]struct {
		goal map[string]juju.UnitGoal
		err  error
		want error
	}{
		"all stay":                {goal: goal("active", "active")},
		"all others go":           {goal: goal("active", "dying")},
		"it goes, another stays":  {goal: goal("dying", "active")},
		"all go":                  {goal: goal("dying", "dying"), want: errTeardown},
		"it is gone, all go":      {goal: map[string]juju.UnitGoal{"ovn-central/1": {Status: "dying"}}, want: errTeardown},
		"Juju could not be asked": {err: errors.New("connection is shut down")},
	} {
		s := &Changer{
			Machine: &observe.Machine{Now: time.Now},
			Goal:    func(context.Context) (juju.GoalState, error) { return juju.GoalState{Units: tt.goal}, tt.err },
		}
		assert.ErrorIs(t, s.abortIfTearingDown(observe.Application{Unit: unit})(t.Context()), tt.want, name)
	}
}

// P8: the proof of a kick may take more than three election timers. Its progress is shown every 5 s.
func TestKick_reports_progress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := observetest.JoinedBy4(t)
		s.NB = s.NB.Down("aa04")
		o := s.ObserverOn(new(observetest.Machine))
		o.Now = time.Now
		var told []string
		c := &Changer{
			Machine: o.Machine, Observer: o, Progress: func(_ context.Context, line string) { told = append(told, line) },
		}
		k := &kickOperation{
			changer: c, server: o.ObserveServer(t.Context(), ovndb.NB),
			target: raft.Peer{Member: raft.Member{Short: "aa04"}},
			// The TTL is longer than the test.
			lock: &lock{
				changer: c, database: ovndb.NB,
				held: lease.Held{Record: lease.Record{}.Taken("ovn-central/0", 5*time.Minute), Written: time.Now()},
			},
		}
		reason := k.await(t.Context())
		assert.Equal(t, finding.Reason{
			Code: finding.AfterLimit, Age: 22 * time.Second, Because: finding.Because(finding.StillConfigured),
		}, reason)
		require.Len(t, told, 4)
		assert.Equal(t, slices.Repeat(told[:1], 4), told)
		assert.Contains(t, told[0], "nb: ")
	})
}
