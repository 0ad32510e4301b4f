package story

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agentService is the agent's, as systemd knows it.
const agentService = "ovn-central-agent"

// agentStatus is what the agent on a unit's machine says.
func (s *story) agentStatus(ctx context.Context, unit string) (status struct {
	Acting string
	Acts   bool
	Term   uint64
}, err error,
) {
	result, err := s.Run(ctx, unit, "agent-status", "format=json")
	if err != nil {
		return status, err
	}
	text, _ := result.Results["agent"].(string)
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		return status, fmt.Errorf("%s: %s: %q: %w", unit, result.Message, text, err)
	}
	return status, nil
}

// acting waits until all units name the same one, which says so too.
func (s *story) acting(ctx context.Context, t *testing.T, units ...string) (holder string, term uint64) {
	t.Helper()
	eventually(ctx, t, time.Minute, func() error {
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

// killAgent kills the agent that acts: systemd starts it again, and it or another unit's acts,
// in another term. They are given little by systemd (systemd.exec(5)), and see their clusters
// all the same.
func (s *story) killAgent(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	first, term := s.acting(ctx, t, units...)
	for _, unit := range units {
		out, err := s.machines[unit].Exec(ctx, "systemd-analyze", "security", "--no-pager", "--threshold=30", agentService)
		require.NoError(t, err, "exposure above 3.0: %s", out)
		eventually(ctx, t, time.Minute, func() error {
			out, err := s.machines[unit].Shell(ctx, `python3 -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:16401/status", timeout=2).read().decode())'`)
			if err == nil && strings.Count(out, `"up":true`) != 2*len(units) {
				err = fmt.Errorf("not all members of both databases are seen in %s", out)
			}
			return err
		})
	}
	pid, err := s.machines[first].Exec(ctx, "systemctl", "show", "-P", "MainPID", agentService)
	require.NoError(t, err)
	killed := time.Now()
	_, err = s.machines[first].Exec(ctx, "kill", "-KILL", strings.TrimSpace(pid))
	require.NoError(t, err)
	other := units[0]
	if other == first {
		other = units[1]
	}
	eventually(ctx, t, time.Minute, func() error {
		status, err := s.agentStatus(ctx, other)
		if err == nil && (status.Acting == "" || status.Term == term) {
			err = fmt.Errorf("%q acts, in term %d", status.Acting, status.Term)
		}
		return err
	})
	t.Logf("one acts after %v", time.Since(killed).Round(100*time.Millisecond))
	s.acting(ctx, t, units...)
	now, err := s.machines[first].Exec(ctx, "systemctl", "show", "-P", "MainPID", agentService)
	require.NoError(t, err)
	assert.NotEqual(t, pid, now, "systemd has started it again")
}
