package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// loaded is the configuration of flags and a file.
func loaded(t *testing.T, file string, flags ...string) (config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.json")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	f, cmd := new(agentFlags), new(cobra.Command)
	f.define(cmd)
	require.NoError(t, cmd.ParseFlags(append(flags, "--config", path)))
	return f.load(cmd)
}

// Each typed flag overrides the file; the others are the file's.
func TestAgent_flags_override_file(t *testing.T) {
	t.Parallel()
	file := config.Config{
		Unit: "file/0", Mode: config.Off, NB: []string{"unix:/file/nb"}, SB: []string{"unix:/file/sb"}, TTL: 9 * time.Second, HoldDown: time.Minute,
		NeutronGateways: true, CordonNew: true, Northd: true, Listen: "127.0.0.1:1", PeerListen: "127.0.0.1:2", Peers: []string{"127.0.0.1:3"}, Socket: "/file/socket",
		Key: "/file/key", Certificate: "/file/certificate", CA: "/file/ca", Backups: "/file/backups", BackupInterval: time.Hour, Generation: "file",
	}
	c, err := loaded(t, string(file.Render()))
	require.NoError(t, err)
	assert.Equal(t, file, c)
	c, err = loaded(t, string(file.Render()), "--unit", "typed/0", "--mode", "on", "--nb", "unix:/typed/nb", "--sb", "unix:/typed/sb", "--lease-ttl", "3s", "--hold-down", "5",
		"--schedule-neutron-gateways=false", "--cordon-new-chassis=false", "--northd=false", "--listen", "127.0.0.1:11", "--peer-listen", "127.0.0.1:12", "--peer", "127.0.0.1:13", "--socket", "/typed/socket",
		"--private-key", "/typed/key", "--certificate", "/typed/certificate", "--ca-cert", "/typed/ca")
	require.NoError(t, err)
	assert.Equal(t, config.Config{
		Unit: "typed/0", Mode: config.On, NB: []string{"unix:/typed/nb"}, SB: []string{"unix:/typed/sb"}, TTL: 3 * time.Second, HoldDown: 5 * time.Second,
		Listen: "127.0.0.1:11", PeerListen: "127.0.0.1:12", Peers: []string{"127.0.0.1:13"}, Socket: "/typed/socket",
		Key: "/typed/key", Certificate: "/typed/certificate", CA: "/typed/ca", Backups: "/file/backups", BackupInterval: time.Hour, Generation: "file",
	}, c)
	_, err = loaded(t, `{"nb":["nonsense"],"sb":["unix:/sb"]}`)
	require.ErrorContains(t, err, `--nb "nonsense" is not unix:FILE`, "before an agent that runs gives anything up for it")
}

// log keeps the log.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// SIGHUP: the agent only notices that another program uses its new peer address after it has closed the old one. It
// continues at the old one.
func TestAgent_keeps_old_address_if_new_one_is_taken(t *testing.T) {
	network := loopbacktest.Network(t)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", network+".2:16401")
	require.NoError(t, err)
	defer taken.Close()
	var mu sync.Mutex
	told := config.Config{
		Unit: "u/0", Mode: config.Advise, NB: []string{"unix:/nonexistent"}, SB: []string{"unix:/nonexistent"}, TTL: config.MinTTL, Listen: network + ".1:16401",
	}
	var failure error
	read := func() (config.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		return told, failure
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said, ended := new(log), make(chan error, 1)
	dir := t.TempDir()
	go func() {
		ended <- runAgent(ctx, read, ovndb.Paths{Run: dir, DB: dir, Logs: dir, Etc: dir}, slog.New(slog.NewTextHandler(said, nil)))
	}()
	const patience = 30 * time.Second
	answers := func() bool {
		r, err := http.Get("http://" + network + ".1:16401/healthz") //nolint:noctx // the agent's own timeouts hold
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	}
	require.Eventually(t, answers, patience, 10*time.Millisecond)

	mu.Lock()
	failure = errors.New("nonsense")
	mu.Unlock()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return said.has("nonsense") }, patience, 10*time.Millisecond)
	assert.True(t, answers())

	mu.Lock()
	told.PeerListen, failure = taken.Addr().String(), nil
	mu.Unlock()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.Eventually(t, func() bool { return said.has("cannot use the new configuration; keeping the last one") }, patience, 10*time.Millisecond)
	require.Eventually(t, answers, patience, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
}
