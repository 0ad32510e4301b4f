package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

const agentService = "ovn-central-agent"

func (s *story) agentStatus(ctx context.Context, unit string) (status struct {
	Acting string
	Acts   bool
	Term   uint64
}, err error,
) {
	results, err := s.Run(ctx, unit, "agent-status", "format=json")
	if err != nil {
		return status, err
	}
	text, _ := results["agent"].(string)
	return status, json.Unmarshal([]byte(text), &status)
}

// acting waits until all units, including the holder, name the same unit.
func (s *story) acting(ctx context.Context, t *testing.T, units ...string) (holder string, term uint64) {
	t.Helper()
	eventually(ctx, t, 3*time.Minute, func() error {
		holder = ""
		for i, unit := range units {
			status, err := s.agentStatus(ctx, unit)
			if err != nil {
				return err
			}
			if i == 0 {
				holder, term = status.Acting, status.Term
			}
			if status.Acting == "" || status.Acting != holder || status.Acts != (unit == holder) {
				return fmt.Errorf("%s says that %q acts, and of itself %v; before it was %q", unit, status.Acting, status.Acts, holder)
			}
		}
		return nil
	})
	return holder, term
}

// killAgent kills the acting agent: systemd restarts it, and one acts in another term, within its restrictions.
func (s *story) killAgent(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	first, term := s.acting(ctx, t, units...)
	for _, unit := range units {
		out, err := s.Machines[unit].Exec(ctx, "systemd-analyze", "security", "--no-pager", "--threshold=30", agentService)
		require.NoError(t, err, "exposure above 3.0: %s", out)
		eventually(ctx, t, 3*time.Minute, func() error {
			out, err := s.Machines[unit].Shell(ctx, `python3 -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:16401/status", timeout=2).read().decode())'`)
			if err == nil && strings.Count(out, `"up":true`) != 2*len(units) {
				err = fmt.Errorf("not all members of both databases are seen in %s", out)
			}
			return err
		})
	}
	pid, killed := property(ctx, t, s.Machines[first], "MainPID"), time.Now()
	_, err := s.Machines[first].Exec(ctx, "kill", "-KILL", pid)
	require.NoError(t, err)
	other := otherThan(first, units)
	eventually(ctx, t, 3*time.Minute, func() error {
		status, err := s.agentStatus(ctx, other)
		if err == nil && (status.Acting == "" || status.Term == term) {
			err = fmt.Errorf("%q acts, in term %d", status.Acting, status.Term)
		}
		return err
	})
	t.Logf("one acts after %v", time.Since(killed).Round(100*time.Millisecond))
	s.acting(ctx, t, units...)
	assert.NotEqual(t, pid, property(ctx, t, s.Machines[first], "MainPID"), "systemd has started it again")
}

// freezeAgent stops the acting agent by SIGSTOP: systemd's watchdog (WatchdogSec), here in seconds, restarts it.
func (s *story) freezeAgent(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	first, _ := s.acting(ctx, t, units...)
	m := s.Machines[first]
	shown := func(name string) string { return property(ctx, t, m, name) }
	assert.Equal(t, "notify", shown("Type"))
	assert.Equal(t, "30s", shown("WatchdogUSec"))
	_, err := m.Shell(ctx, `mkdir "$1"; printf '[Service]\nWatchdogSec=6\n' >"$1/watchdog.conf"; systemctl daemon-reload; systemctl restart "$2"`, shortWatchdog, agentService)
	require.NoError(t, err)
	first, _ = s.acting(ctx, t, units...) // a restart gives the lease up
	pid, frozen := shown("MainPID"), time.Now()
	_, err = m.Exec(ctx, "kill", "-STOP", pid)
	require.NoError(t, err)
	eventually(ctx, t, 40*time.Second, func() error {
		if now := shown("MainPID"); now == pid || now == "0" || shown("SubState") != "running" {
			return fmt.Errorf("the agent's process is %s, and was %s", now, pid)
		}
		return nil
	})
	t.Logf("%s: systemd has started a frozen agent again after %v", first, time.Since(frozen).Round(100*time.Millisecond))
	_, err = m.Shell(ctx, `rm -r "$1"; systemctl daemon-reload; systemctl restart "$2"`, shortWatchdog, agentService)
	require.NoError(t, err)
	s.acting(ctx, t, units...)
}

func property(ctx context.Context, t *testing.T, m *machines.Machine, name string) string {
	t.Helper()
	out, err := m.Exec(ctx, "systemctl", "show", "-P", name, agentService)
	require.NoError(t, err)
	return strings.TrimSpace(out)
}

// shortWatchdog is a drop-in of the service that lasts until the machine restarts.
const shortWatchdog = "/run/systemd/system/" + agentService + ".service.d"

// agentsTrust waits until each agent tells the others over TLS, with current certificates, which unit acts.
func (s *story) agentsTrust(ctx context.Context, t *testing.T) {
	t.Helper()
	units := s.alive(ctx, t)
	holder, _ := s.acting(ctx, t, units...)
	const ask = `import json, ssl, sys, urllib.request
c = ssl.create_default_context(cafile="/etc/ovn/ovn-central.crt")
c.check_hostname = False
c.load_cert_chain("/etc/ovn/cert_host", "/etc/ovn/key_host")
print(json.load(urllib.request.urlopen("https://%s:16402/" % sys.argv[1], timeout=2, context=c))["name"])`
	for i, unit := range units {
		other := units[(i+1)%len(units)]
		eventually(ctx, t, 3*time.Minute, func() error {
			named, err := s.Machines[unit].Exec(ctx, "python3", "-c", ask, s.Machines[other].Address().String())
			if err == nil && strings.TrimSpace(named) != holder {
				err = fmt.Errorf("%s tells %s that %q acts, not %s", other, unit, named, holder)
			}
			return err
		})
	}
}
