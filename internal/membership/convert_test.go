//go:build programs

package membership

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// newerSchema gives the unit's packages a newer schema of the Southbound database.
func (u *realUnit) newerSchema() {
	u.t.Helper()
	text, err := os.ReadFile("/usr/share/ovn/ovn-sb.ovsschema")
	require.NoError(u.t, err)
	before, rest, found := strings.Cut(string(text), `"version": "`)
	require.True(u.t, found)
	_, after, _ := strings.Cut(rest, `"`)
	u.Files.Paths.Data = u.t.TempDir()
	require.NoError(u.t, os.WriteFile(filepath.Join(u.Files.Paths.Data, "ovn-sb.ovsschema"),
		[]byte(before+`"version": "99.0.0"`+after), 0o600))
}

// converting counts the processes of ovsdb-client that convert at the unit's socket.
func (u *realUnit) converting() (n int) {
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(u.t, err)
	for _, path := range commands {
		text, _ := os.ReadFile(path)
		if strings.Contains(string(text), "convert\x00unix:"+u.Control.Paths.Socket(ovndb.SB)) {
			n++
		}
	}
	return n
}

// If a leader has begun a conversion and can't store it, the conversion would continue on the next leader, and on a
// follower for ever. All units know at which election timer it was tried.
func TestConvert_ends_when_leadership_is_lost(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.SB)
	leader := units[0]
	global, err := leader.Dialer.Global(t.Context(), ovndb.SB, "unix:"+leader.Control.Paths.Socket(ovndb.SB))
	require.NoError(t, err)
	ok, err := global.Swap(t.Context(), "there-is", "", "a row")
	global.Close()
	require.NoError(t, err)
	require.True(t, ok)
	leader.newerSchema()

	tried, err := units[1].TriedConversion(t.Context(), ovndb.SB, "25.03 openvswitch 3.5")
	require.NoError(t, err)
	require.Zero(t, tried)
	leader.Files.Runner = stopBefore{leader.Files.Runner, func() {
		for _, u := range units[1:] {
			require.NoError(t, u.servers[ovndb.SB].Signal(syscall.SIGSTOP))
		}
	}}
	begun := time.Now()
	err = leader.Convert(t.Context(), model(leader, units...), ovndb.SB, "25.03 openvswitch 3.5", time.Second)
	require.ErrorIs(t, err, ErrRaftLeaderLost)
	assert.Less(t, time.Since(begun), convertBase, "it was ended by its own deadline")
	assert.Zero(t, leader.converting())

	for _, u := range units[1:] {
		require.NoError(t, u.servers[ovndb.SB].Signal(syscall.SIGCONT))
	}
	for _, u := range units {
		u.until(ovndb.SB, raft.Status.HasLeader)
		var tried time.Duration
		require.Eventually(t, func() bool { // a server drops its clients when it learns of another leader
			tried, err = u.TriedConversion(t.Context(), ovndb.SB, "25.03 openvswitch 3.5")
			return err == nil
		}, 30*time.Second, 50*time.Millisecond, "%v", err)
		assert.Equal(t, time.Second, tried)
		tried, err = u.TriedConversion(t.Context(), ovndb.SB, "26.03 openvswitch 4.0")
		require.NoError(t, err)
		assert.Zero(t, tried, "other packages may do better")
	}
}

// stopBefore calls stop before a conversion is begun.
type stopBefore struct {
	run.Runner
	stop func()
}

func (s stopBefore) Run(ctx context.Context, c run.Command) ([]byte, error) {
	if c.Name == "ovsdb-client" {
		s.stop()
	}
	return s.Runner.Run(ctx, c)
}

func TestConvert_refused_by_server_is_no_try(t *testing.T) {
	t.Parallel()
	u := realCluster(t, 1, ovndb.SB)[0]
	global, err := u.Dialer.Global(t.Context(), ovndb.SB, "unix:"+u.Control.Paths.Socket(ovndb.SB))
	require.NoError(t, err)
	_, err = global.Swap(t.Context(), "there-is", "", "a row")
	global.Close()
	require.NoError(t, err)
	u.Files.Paths.Data = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(u.Files.Paths.Data, "ovn-sb.ovsschema"),
		[]byte(`{"name":"OVN_Northbound","version":"99.0.0","tables":{}}`), 0o600))
	err = u.Convert(t.Context(), model(u, u), ovndb.SB, "25.03", 4*time.Second)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrRaftLeaderLost)
	tried, err := u.TriedConversion(t.Context(), ovndb.SB, "25.03")
	require.NoError(t, err)
	assert.Zero(t, tried)
}

// R5: no other unit leaves, kicks or restarts while a database is converted.
func TestR5_convert_holds_lock(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.SB)
	leader, other := units[0], units[1]
	m := model(other, units...)
	leader.newerSchema()
	waited := ""
	leader.Files.Runner = stopBefore{leader.Files.Runner, func() {
		waiting, cancel := context.WithCancel(t.Context())
		other.Progress = func(_ context.Context, text string) {
			waited = text
			cancel()
		}
		err := other.WithLock(waiting, m, ovndb.SB, false, allowed)
		assert.Equal(t, []string{"sb CHANGED_ELSEWHERE"}, findingtest.Codes(err))
	}}
	require.NoError(t, leader.Convert(t.Context(), model(leader, units...), ovndb.SB, "25.03 openvswitch 3.5",
		time.Second))
	assert.Regexp(t, "^sb: .*ovn-central/0 ", waited)
	begun := time.Now()
	require.NoError(t, other.WithLock(t.Context(), m, ovndb.SB, false, allowed))
	assert.Less(t, time.Since(begun), other.lockTTL(ovndb.SB, time.Second), "it was given back")
}
