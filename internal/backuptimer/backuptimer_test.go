package backuptimer_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/backuptimer"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// systemctl records its calls.
type systemctl struct {
	calls []string
	err   error
}

// Run implements run.Runner.
func (s *systemctl) Run(_ context.Context, c run.Command) ([]byte, error) {
	s.calls = append(s.calls, c.String())
	return nil, s.err
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	daily := facts.Facts{
		Known:    plan.State{Settings: plan.Settings{Backup: plan.BackupSettings{Interval: 24 * time.Hour, Keep: 7}}},
		Decision: plan.Decision{Ready: true},
	}
	preview := daily
	preview.Preview = true
	unit := func(t *testing.T) (*backuptimer.Manager, *systemctl) {
		t.Helper()
		dir, log, programs := t.TempDir(), slog.New(slog.DiscardHandler), new(systemctl)
		state, err := unitstate.Open(filepath.Join(dir, "state.json"), log)
		require.NoError(t, err)
		p := ovndb.Paths{
			DB: filepath.Join(dir, "lib", "ovn"), Etc: filepath.Join(dir, "etc", "ovn"), Backups: filepath.Join(dir, "backups"),
		}
		for _, path := range []string{p.AgentProgram(), p.BackupUnit()} {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		}
		require.NoError(t, os.WriteFile(p.AgentProgram(), nil, 0o600))
		return &backuptimer.Manager{
			Unit: "ovn-central/0", Paths: p, Services: systemd.Services{Runner: programs},
			Now: func() time.Time { return now }, State: state, Log: log,
		}, programs
	}
	ensure := func(t *testing.T, m *backuptimer.Manager, s facts.Facts) []finding.Finding {
		t.Helper()
		found, err := m.Ensure(t.Context(), s)
		require.NoError(t, err)
		return found
	}

	t.Run("timer_is_set_once_and_removed_with_the_option", func(t *testing.T) {
		t.Parallel()
		m, programs := unit(t)
		assert.Empty(t, ensure(t, m, daily))
		assert.Equal(t, []string{
			"systemctl daemon-reload", "systemctl enable ovn-central-backup.timer", "systemctl restart ovn-central-backup.timer",
		}, programs.calls)
		text, err := os.ReadFile(m.Paths.BackupUnit())
		require.NoError(t, err)
		assert.Contains(t, string(text), "backup --unit ovn-central/0 --keep 7\n")

		programs.calls = nil
		assert.Empty(t, ensure(t, m, daily))
		assert.Empty(t, programs.calls)
		assert.Empty(t, ensure(t, m, facts.Facts{}))
		assert.NoFileExists(t, m.Paths.BackupTimer())
		assert.Empty(t, ensure(t, m, preview))
	})

	t.Run("unit_that_is_not_ready_makes_none", func(t *testing.T) {
		t.Parallel()
		m, programs := unit(t)
		s := daily
		s.Decision.Ready = false
		ensure(t, m, s)
		assert.Empty(t, programs.calls)
	})

	t.Run("failure_and_missing_backups_are_findings", func(t *testing.T) {
		t.Parallel()
		m, programs := unit(t)
		programs.err = errors.New("no bus\nat all")
		found := ensure(t, m, daily)
		require.Len(t, found, 1)
		assert.Equal(t, finding.BackupOverdue, found[0].Code)
		assert.Contains(t, findingtest.Brief(found[0]), " -> ssh ovn-central/0 journalctl -u ovn-central-backup")
		said := findingtest.Reasons(found[0].Args.Reasons...)
		assert.Contains(t, said, "no bus")
		assert.NotContains(t, said, "\n")
		programs.err = nil
		assert.Empty(t, ensure(t, m, daily), "it is tried again")
		m.Now = func() time.Time { return now.Add(49 * time.Hour) }
		found = ensure(t, m, preview)
		require.Len(t, found, 1)
		assert.Equal(t, finding.Because(finding.BackupsMissing), found[0].Args.Reasons)
	})
}
