// Package large waits for, recovers and restores databases of hundreds of MiB.
package large

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/system/transact"
)

// R0: a large database gets the time that its size needs. A member that compacts counts as up without an answer, as
// long as its connection lasts, which the cluster ends after the election timer. A restart and a join end in that time,
// and a leave does not stay pending.
func TestWaits_database_of_160_MiB(t *testing.T) {
	const size = 160
	m := labtest.New(t, 3, lab.Options{ElectionTimer: 4 * time.Second, HookTimeout: 20 * time.Minute})
	grow(m, size, 1<<20)
	u, other := m.Followers()[0], m.Followers()[1]
	patience := func(base time.Duration) time.Duration { return raft.Patience(base, size<<20) }
	took := func(what string, begun time.Time, most time.Duration) {
		t.Helper()
		t.Logf("%s took %s of at most %s", what, time.Since(begun).Round(10*time.Millisecond), most)
		assert.Less(t, time.Since(begun), most, what)
	}
	three := regexp.MustCompile(`(?m)^nb: 1 .* 3 .*\(3 up\)$`)
	allUp := func() bool { return three.MatchString(m.Act(other, "cluster-status")["fault-tolerance"]) }
	m.Eventually("all are up", allUp)

	begun, compacted := time.Now(), make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	go func() {
		_, err := u.Exec(ctx, "ovs-appctl", "--timeout=300", "--target="+filepath.Join(u.RunDir(), "ovnnb_db.ctl"), "ovsdb-server/compact", "OVN_Northbound")
		compacted <- err
	}()
	for done, looks := false, 0; !done || looks < 3; looks++ {
		select {
		case err := <-compacted:
			require.NoError(t, err)
			done = true
			took("a compaction", begun, patience(2*time.Minute))
		default:
		}
		found := m.Findings(other)
		t.Log(found)
		if time.Since(begun) < patience(observe.ProbeTimeout) {
			assert.False(t, found.Has(finding.MemberDown, "nb "+u.Name()))
		}
	}
	begun = time.Now()
	m.Eventually("all are up again", allUp)
	took("to count as up again", begun, patience(10*time.Second))

	begun = time.Now()
	m.Act(u, "restart-services", "services=ovn-ovsdb-server-nb")
	took("an exit, and to be a member that has caught up", begun, patience(10*time.Second)+patience(20*time.Second))

	begun = time.Now()
	m.Remove(u) // a leave that is late fails the hook
	took("a leave", begun, patience(30*time.Second))

	begun = time.Now()
	added := m.AddSilent()
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("the new unit is a member", labtest.AllMembers(m, append(m.Remaining(), added)...), added)
	took("a join", begun, patience(30*time.Second))
}

func TestMain(m *testing.M) { labtest.Main(m) }

// grow adds rows of size bytes to the Northbound file, half a MiB at a time, up to so many MiB. It counts them.
func grow(m *labtest.Model, mib int64, size int) (rows int) {
	m.T.Helper()
	u, text := m.LeaderOf(lab.NB), strings.Repeat("x", size)
	rows, err := transact.Grow(m.T.Context(), filepath.Join(u.RunDir(), "ovnnb_db.sock"), u.DBFile(lab.NB), mib, max(1,
		1<<19/size), "OVN_Northbound", "Address_Set",
		func(n int) map[string]any {
			return map[string]any{"name": fmt.Sprintf("large-%d", n), "external_ids": []any{"map", [][]string{{"text", text}}}}
		})
	require.NoError(m.T, err)
	return rows
}

// long runs update-status on units until the condition holds, for longer than [labtest.Model.Tick] does.
func long(m *labtest.Model, what string, condition func() bool, units ...*lab.Unit) {
	m.T.Helper()
	require.True(m.T, m.Within(20*time.Minute, func() bool {
		m.RunUpdateStatus(units...)
		return condition()
	}), what)
}

func counted(m *labtest.Model, u *lab.Unit) int {
	m.T.Helper()
	out := labtest.Output(m.T, u, "ovn-nbctl", "--timeout=100", "--no-leader-only",
		"--db=unix:"+filepath.Join(u.RunDir(), "ovnnb_db.sock"), "--bare", "--columns=name", "list", "Address_Set")
	return strings.Count(out, "large-")
}

// A Northbound database of RECOVER_MIB is recovered and restored: everything that takes long is waited for.
func TestRecover_database_of_300_MiB(t *testing.T) {
	size, err := strconv.ParseInt(cmp.Or(os.Getenv("RECOVER_MIB"), "300"), 10, 64)
	require.NoError(t, err)
	for _, of := range []struct {
		name string
		row  int
	}{{"rows of 1 KiB", 1 << 10}, {"rows of 256 KiB", 256 << 10}} {
		t.Run(of.name, func(t *testing.T) {
			m := labtest.New(t, 3, lab.Options{ElectionTimer: 16 * time.Second, HookTimeout: 20 * time.Minute}) // as long as an action may take
			u, others := m.Deployed[0], m.Deployed[1:]
			rows := grow(m, size, of.row)
			took := func(what string, begun time.Time) {
				t.Logf("%s: %s took %s", of.name, what, time.Since(begun).Round(100*time.Millisecond))
			}
			m.Eventually("all units serve all rows", func() bool { return counted(m, u) == rows })
			begun := time.Now()
			dir := m.Act(u, "backup")["backup"]
			took("a backup", begun)
			require.Len(t, m.Lose(others...), 1)

			lost := "give-up=" + labtest.Names(others)
			// A server calls itself connected for up to two election timers more.
			m.Eventually("recover is not refused any more", func() bool {
				r, err := m.RunAction(t.Context(), u, "recover", lost, "dry-run=true", "format=json")
				require.NoError(t, err)
				found, err := cluster.ReadFindings(r.Results["findings"])
				require.NoError(t, err)
				return !found.Has(finding.RecoveryHasQuorum, "")
			})
			begun = time.Now()
			shown := m.Act(u, "recover", lost, "i-really-mean-it=true")
			took("recover", begun)
			t.Log(shown["status"])
			long(m, "a new cluster", labtest.AllMembers(m, u), u)
			took("a new cluster of one", begun)
			assert.Equal(t, rows, counted(m, u))
			m.RequireProof(u, u)

			begun = time.Now()
			m.PowerOn(others...)
			long(m, "all are members", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
			m.Eventually("all units serve all rows", func() bool { return counted(m, others[0]) == rows && counted(m, others[1]) == rows })
			took("that the others join", begun)
			m.RequireProof(u, m.Deployed...)

			m.AddSwitch("after")
			begun = time.Now()
			m.Act(u, "restore", "from="+dir, "i-really-mean-it=true")
			took("restore", begun)
			long(m, "all serve the backup", func() bool {
				return labtest.AllMembers(m, m.Deployed...)() && !strings.Contains(m.Seen(u), "after")
			}, m.Deployed...)
			for _, each := range m.Deployed {
				m.Eventually("all rows are served", func() bool { return counted(m, each) == rows })
			}
			took("that all serve it", begun)
			m.RequireProof(u, m.Deployed...)
			m.RequireWritable()
		})
	}
}
