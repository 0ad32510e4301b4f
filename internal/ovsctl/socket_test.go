package ovsctl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// masks replaces systemctl, for services with this UnitFileState.
type masks struct {
	how   string
	calls []string
}

// Run implements run.Runner.
func (m *masks) Run(_ context.Context, c run.Command) ([]byte, error) {
	if c.Args[0] != "show" {
		m.calls = append(m.calls, c.String())
		return nil, nil
	}
	load, _, _ := strings.Cut(strings.Replace(m.how, "enabled", "loaded", 1), "-")
	var all []string
	for _, service := range ovndb.AllServices() {
		all = append(all, fmt.Sprintf("Id=%s.service\nLoadState=%s\nActiveState=active\nUnitFileState=%s\nMainPID=1\n",
			service, load, m.how))
	}
	return []byte(strings.Join(all, "\n")), nil
}

// R1: a server that systemd would not start again is not stopped. The masks of an upgrade that was killed stay until
// the next boot; an operator's masks stay longer.
func TestHandOver_runtime_mask_is_removed(t *testing.T) {
	t.Parallel()
	killed, wanted := &masks{how: "masked-runtime"}, &masks{how: "masked"}
	reached := errors.New("the server may be ended")
	begin := func() (time.Time, error) { return time.Time{}, reached }
	err := ovsctl.Control{}.HandOver(t.Context(), systemd.Services{Runner: killed}, ovndb.NB, begin)
	require.ErrorIs(t, err, reached)
	assert.Equal(t, []string{"systemctl unmask --runtime ovn-ovsdb-server-nb"}, killed.calls)
	err = ovsctl.Control{}.HandOver(t.Context(), systemd.Services{Runner: wanted}, ovndb.NB, begin)
	require.ErrorIs(t, err, systemd.ErrNotStartable)
	assert.Empty(t, wanted.calls)
}

// longPollLog has lines of ovsdb-server of OVS 3.1.
const longPollLog = `2026-11-23T09:00:00.000Z|00001|vlog|INFO|opened log file /var/log/ovn/ovsdb-server-nb.log
2026-11-23T09:10:00.123Z|00017|timeval|WARN|Unreasonably long 9001ms poll interval (8000ms user, 2ms system)
2026-11-23T10:10:00.123Z|00117|timeval|WARN|Unreasonably long 1002ms poll interval (20ms user, 2ms system)
2026-11-23T10:10:00.124Z|00118|timeval|WARN|faults: 0 minor, 12 major
2026-11-23T10:20:00.500Z|00120|timeval(compaction)|WARN|Unreasonably long 3500ms poll interval
2026-11-23T10:20:00.123Z|00017|timeval|WARN|Unreasonably long 4321ms poll interval
2026-11-23T10:21:00.123Z|00018|raft|INFO|says "Unreasonably long 99999ms poll interval"
2026-11-23T10:22:00.123Z|00019|timeval|WARN|Unreasonably lo`

func TestReadLongPolls(t *testing.T) {
	t.Parallel()
	paths := ovndb.Paths{Logs: t.TempDir()}
	since := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	found, err := ovsctl.ReadLongPolls(paths, ovndb.NB, since)
	require.NoError(t, err)
	assert.Zero(t, found, "there is no log")

	log := filepath.Join(paths.Logs, "ovsdb-server-nb.log")
	require.NoError(t, os.WriteFile(log, []byte(longPollLog), 0o600))
	found, err = ovsctl.ReadLongPolls(paths, ovndb.NB, since)
	require.NoError(t, err)
	assert.Equal(t, ovsctl.LongPolls{Count: 2, Longest: 4321 * time.Millisecond}, found)

	// Only the end of a long log is read.
	long := longPollLog + "\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 20_000) + longPollLog + "\n"
	require.NoError(t, os.WriteFile(log, []byte(long), 0o600))
	found, err = ovsctl.ReadLongPolls(paths, ovndb.NB, since)
	require.NoError(t, err)
	assert.Equal(t, 2, found.Count)
}

// answering makes a control socket that answers one command with a text, or never. It passes the command on.
func answering(t *testing.T, answer string) (paths ovndb.Paths, asked <-chan string) {
	t.Helper()
	paths = ovndb.Paths{Run: t.TempDir()}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", paths.Control(ovndb.NB))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	heard := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := bufio.NewReader(conn).ReadString('\n')
		heard <- line
		if _, err := conn.Write([]byte(answer)); err == nil && answer == "" {
			_, _ = conn.Read(make([]byte, 1)) // until the other end gives up
		}
	}()
	return paths, heard
}

func TestPollStatus(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../raft/testdata/cluster-status/nb-candidate-alone.txt")
	require.NoError(t, err)
	status, err := json.Marshal(string(text))
	require.NoError(t, err)
	paths, asked := answering(t, `{"id":0,"result":`+string(status)+`,"error":null}`)
	found, err := ovsctl.Control{Paths: paths}.PollStatus(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":0,"method":"cluster/status","params":["OVN_Northbound"]}`, <-asked)
	assert.Equal(t, raft.Candidate, found.Role)
	assert.True(t, found.CutOff())
}

func TestPollStatus_errors(t *testing.T) {
	t.Parallel()
	paths, _ := answering(t, `{"id":0,"result":null,"error":"unknown cluster"}`)
	_, err := ovsctl.Control{Paths: paths}.PollStatus(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "unknown cluster")
	_, err = ovsctl.Control{Paths: ovndb.Paths{Run: t.TempDir()}}.PollStatus(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, os.ErrNotExist)
	paths, _ = answering(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ovsctl.Control{Paths: paths}.PollStatus(ctx, ovndb.NB)
	require.Error(t, err, "a server that hangs")
}
