package machine

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func linksBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	links := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			links[strings.TrimPrefix(path, dir)] = target
		}
		return err
	}))
	return links
}

// The lab's systemctl makes the same links, and has the same output and exit codes, as the real one with --root.
func TestSystemctl_enables_and_masks_units(t *testing.T) {
	program, err := exec.LookPath("systemctl")
	require.NoError(t, err, "of the package systemd")
	root := t.TempDir()
	for _, dir := range []string{systemDir, unitDir} {
		require.NoError(t, os.MkdirAll(root+dir, 0o755))
	}
	for _, unit := range packaged {
		text, err := os.ReadFile(filepath.Join(unitDir, unit+".service"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root+unitDir, unit+".service"), text, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root+unitDir, "multi-user.target"), []byte("[Unit]\n"), 0o600))
	m := newMachine(t)
	require.NoError(t, m.changePackages(func(p *packages) { p.Installed[Umbrella] = "1" }))
	manager := newManager(m)

	for _, command := range []string{
		"is-enabled ovn-central", "is-enabled ovn-northd", "is-enabled ovn-central ovn-ovsdb-server-nb", "is-enabled nope",
		"enable ovn-central", "enable ovn-central ovn-ovsdb-server-nb.service", "enable ovn-ovsdb-server-sb",
		"is-enabled ovn-central ovn-ovsdb-server-nb ovn-nb-ovsdb ovn-northd nope",
		"mask ovn-central", "mask ovn-central", "is-enabled ovn-central", "unmask ovn-central", "is-enabled ovn-central",
		"mask ovn-northd", "is-enabled ovn-northd", "unmask ovn-northd", "unmask ovn-northd",
		"disable ovn-central", "disable ovn-central", "disable ovn-ovsdb-server-nb", "is-enabled ovn-nb-ovsdb",
		"mask ovn-ovsdb-server-sb", "disable ovn-ovsdb-server-sb", "mask", "is-enabled",
	} {
		args := strings.Fields(command)
		cmd := exec.Command(program, append([]string{"--root=" + root}, args...)...)
		out, _ := cmd.Output()
		ours := manager.systemctl(args)
		assert.Equal(t, string(out), ours.Out, command)
		assert.Equal(t, cmd.ProcessState.ExitCode(), ours.Code, command)
		assert.Equal(t, linksBelow(t, root+systemDir), linksBelow(t, m.path(systemDir)), command)
	}
}

// Measured with systemd 252 as pid 1.
func TestSystemctl_unknown_units(t *testing.T) {
	manager := newManager(newMachine(t))
	tests := map[string]struct {
		out, errs string
		code      int
	}{
		"mask ovn-central":   {"", "", 0},
		"enable ovn-northd":  {"", "Failed to enable unit: Unit file ovn-northd.service does not exist.\n", 1},
		"start ovn-northd":   {"", "Failed to start ovn-northd.service: Unit ovn-northd.service not found.\n", 5},
		"restart ovn-northd": {"", "Failed to restart ovn-northd.service: Unit ovn-northd.service not found.\n", 5},
		"stop ovn-northd":    {"", "Failed to stop ovn-northd.service: Unit ovn-northd.service not loaded.\n", 5},
		"is-active nope":     {"inactive\n", "", 4},
		"show -p Id,LoadState,ActiveState,UnitFileState,MainPID,InvocationID a b": {
			"MainPID=0\nId=a.service\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\nInvocationID=\n\n" +
				"MainPID=0\nId=b.service\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\nInvocationID=\n", "", 0,
		},
	}
	for command, test := range tests {
		t.Run(command, func(t *testing.T) {
			got := manager.systemctl(strings.Fields(command))
			assert.Equal(t, Reply{test.out, test.errs, test.code}, got)
		})
	}
}
