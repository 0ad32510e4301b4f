package agentservice

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// services records the requests to systemd.
type services struct {
	Services
	calls  []string
	active bool
	err    error
}

func (s *services) did(what string) error {
	s.calls = append(s.calls, what)
	return s.err
}
func (s *services) Version(context.Context) (int, error)                { return 257, nil }
func (s *services) Reload(context.Context) error                        { return s.did("reload") }
func (s *services) Active(context.Context, ovndb.Service) (bool, error) { return s.active, nil }
func (s *services) HangUp(context.Context, ovndb.Service) error         { return s.did("hang up") }
func (s *services) Stop(context.Context, ...ovndb.Service) error        { return s.did("stop") }
func (s *services) Restart(context.Context, ...ovndb.Service) error     { return s.did("restart") }
func (s *services) Enable(context.Context, ...ovndb.Service) error      { return s.did("enable") }
func (s *services) Disable(context.Context, ...ovndb.Service) error     { return s.did("disable") }

func manager(t *testing.T) (*Manager, *services) {
	t.Helper()
	dir, log, systemd := t.TempDir(), slog.New(slog.DiscardHandler), new(services)
	state, err := unitstate.Open(filepath.Join(dir, "state.json"), log)
	require.NoError(t, err)
	p := ovndb.Paths{DB: filepath.Join(dir, "lib", "ovn"), Etc: filepath.Join(dir, "etc", "ovn"), Run: dir}
	require.NoError(t, os.MkdirAll(p.Etc, 0o755))
	for _, path := range []string{
		p.Credentials().Key, p.Credentials().Certificate, p.Credentials().CA, filepath.Join(dir, "program"),
	} {
		require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	}
	return &Manager{Program: filepath.Join(dir, "program"), Paths: p, Services: systemd, State: state, Log: log}, systemd
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	configured := func(ttl time.Duration) (s facts.Facts) {
		s.Application.Unit, s.Addresses.Own = "ovn-central/0", netip.MustParseAddr("10.0.0.1")
		s.Known.Settings.Agent = plan.AgentSettings{Mode: string(config.On), TTL: ttl, Port: 16400}
		return s
	}
	ready := configured(lease.MinTTL)
	ready.Decision.Ready = true
	ensure := func(t *testing.T, m *Manager, s facts.Facts) []finding.Finding {
		t.Helper()
		found, err := m.Ensure(t.Context(), s)
		require.NoError(t, err)
		return found
	}

	t.Run("agent_starts_once_and_is_told_of_changes", func(t *testing.T) {
		t.Parallel()
		m, systemd := manager(t)
		assert.Empty(t, ensure(t, m, configured(lease.MinTTL)))
		assert.Empty(t, systemd.calls, "the servers are no members yet")
		assert.Empty(t, ensure(t, m, ready))
		assert.Equal(t, []string{"reload", "enable", "restart"}, systemd.calls)
		systemd.calls, systemd.active = nil, true
		assert.Empty(t, ensure(t, m, ready))
		assert.Empty(t, systemd.calls)
		assert.Empty(t, ensure(t, m, configured(2*lease.MinTTL)))
		assert.Equal(t, []string{"reload", "enable", "hang up"}, systemd.calls)
		systemd.calls = nil
		options := map[string]finding.Args{plan.OptionLeaseTTL: {Value: "301"}}
		invalid := facts.Facts{Known: plan.State{Invalid: options}}
		assert.Empty(t, ensure(t, m, invalid), "an option that can't be used changes nothing")
		assert.Empty(t, systemd.calls)
		assert.Empty(t, ensure(t, m, facts.Facts{State: plan.State{Paused: true}}))
		assert.Equal(t, []string{"stop", "disable"}, systemd.calls)
	})

	t.Run("failure_is_a_finding_and_is_tried_again", func(t *testing.T) {
		t.Parallel()
		m, systemd := manager(t)
		systemd.err = errors.New("no bus\nat all")
		found := ensure(t, m, ready)
		require.Len(t, found, 1)
		assert.Equal(t, finding.AgentFailed, found[0].Code)
		assert.Equal(t, "no bus", found[0].Args.Value)
		systemd.err = nil
		preview := facts.Facts{Preview: true}
		assert.Equal(t, found, ensure(t, m, preview))
		assert.Empty(t, ensure(t, m, ready))
	})

	t.Run("without_a_program_there_is_no_agent", func(t *testing.T) {
		t.Parallel()
		m, systemd := manager(t)
		m.Program = ""
		assert.Empty(t, ensure(t, m, ready))
		assert.Empty(t, systemd.calls)
	})
}

// Without the agent's answer it is unknown whether drains have stalled, so a silent agent is a finding.
func TestAsk(t *testing.T) {
	t.Parallel()
	m, _ := manager(t)
	_, found := m.Ask(t.Context())
	assert.Empty(t, found, "it is not to run")

	require.NoError(t, section.Set(m.State, kept{Setup: "f00"}))
	require.NoError(t, os.WriteFile(m.Paths.AgentConfig(), config.Config{Socket: m.Paths.AgentSocket()}.Render(), 0o600))
	_, found = m.Ask(t.Context())
	require.Len(t, found, 1)
	assert.Equal(t, finding.AgentFailed, found[0].Code)
	assert.Contains(t, found[0].Args.Value, "journalctl -u ovn-central-agent")

	require.NoError(t, os.MkdirAll(filepath.Dir(m.Paths.AgentSocket()), 0o755))
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", m.Paths.AgentSocket())
	require.NoError(t, err)
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"unit":"u/0","acts":true,"taken_address":"127.0.0.1:16401"}`))
	})
	go func() { _ = http.Serve(l, answer) }() //nolint:gosec // of this test
	t.Cleanup(func() { _ = l.Close() })
	s, found := m.Ask(t.Context())
	assert.True(t, s.Acts)
	assert.Equal(t, failed(s.Problem()), found)
	assert.Contains(t, s.Problem(), "127.0.0.1:16401")

	require.NoError(t, section.Set(m.State, kept{Setup: "f00", Problem: "restart"}))
	s, found = m.Ask(t.Context())
	assert.True(t, s.Acts, "it runs as before")
	assert.Empty(t, found)
}

func TestUnit_restart_backoff_by_systemd_version(t *testing.T) {
	t.Parallel()
	const backoff = "RestartSteps=5\nRestartMaxDelaySec=60\n"
	assert.Contains(t, unit(ovndb.Paths{}, 0), "\nType=notify\n")
	assert.Contains(t, unit(ovndb.Paths{}, 0), "\nExecReload=kill -HUP $MAINPID\n")
	for version, steps := range map[int]string{0: "", 253: "", 254: backoff, 257: backoff} {
		assert.Contains(t, unit(ovndb.Paths{}, version), "\nRestart=on-failure\nRestartSec=2\n"+steps+"WatchdogSec=30\n")
	}
}
