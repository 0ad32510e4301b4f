package recovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// backup runs the command that the timer starts.
func backup(m *labtest.Model, u *lab.Unit, more ...string) error {
	m.T.Helper()
	text, err := os.ReadFile(filepath.Join(u.SysconfDir(), "systemd/system/ovn-central-backup.service"))
	require.NoError(m.T, err)
	_, rest, _ := strings.Cut(string(text), "ExecStart=")
	command, _, _ := strings.Cut(rest, "\n")
	words := append(strings.Fields(command), more...)
	_, err = u.Exec(m.T.Context(), words[0], words[1:]...)
	return err
}

func TestBackup_interval_option_makes_backups(t *testing.T) {
	m := labtest.Deploy(t, 1)
	u := m.Deployed[0]
	timer := func(question string) string {
		out, _, err := u.Systemctl(t.Context(), question, "ovn-central-backup.timer")
		require.NoError(t, err)
		return strings.TrimSpace(out)
	}
	updated := func() string {
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
		return u.Workload().Message
	}
	require.NoError(t, m.Configure(t.Context(), map[string]string{"backup-interval": "6", "backup-keep": "1"}))
	require.Equal(t, "active", timer("is-active"))
	require.Equal(t, "enabled", timer("is-enabled"))
	text, err := os.ReadFile(filepath.Join(u.SysconfDir(), "systemd/system/ovn-central-backup.timer"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "OnUnitActiveSec=6h")
	assert.NotContains(t, updated(), "backup", "the first one is not due yet")

	require.Error(t, backup(m, u, "--keep=0"))
	assert.Contains(t, updated(), "backup: ")
	m.Finds(u, finding.BackupOverdue, "")
	require.NoError(t, backup(m, u))
	assert.Regexp(t, ` backup .* 1 h `, updated())
	assert.Equal(t, "active", u.Workload().Status)
	m.FindsNone(u, finding.BackupOverdue)
	m.Wait(1100 * time.Millisecond) // their names have a resolution of a second
	require.NoError(t, backup(m, u))
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(u.DBDir()), "backups", "*Z"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	assert.Equal(t, u.Name(), labtest.ReadManifest(t, kept[0]).Unit)

	require.NoError(t, m.Configure(t.Context(), map[string]string{"backup-interval": "9999"}))
	m.Finds(u, finding.OptionInvalid, "backup-interval")
	require.Equal(t, "active", timer("is-active"), "it keeps the last valid interval")
	require.NoError(t, m.Configure(t.Context(), map[string]string{"backup-interval": "0"}))
	assert.NotEqual(t, "active", timer("is-active"))
	assert.NoFileExists(t, filepath.Join(u.SysconfDir(), "systemd/system/ovn-central-backup.timer"))
	assert.DirExists(t, kept[0])
	assert.NotContains(t, updated(), "backup", "none is asked for")
}
