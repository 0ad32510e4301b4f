package lab_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// processesOf counts the living processes whose command line names dir.
func processesOf(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), dir) {
			lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}

// count is how many lines begin with a word.
func count(lines []string, word string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(line, word) {
			n++
		}
	}
	return n
}

func TestCloseLeavesNothing(t *testing.T) {
	l, err := lab.New(ctx(t), lab.Options{Charm: newCharm(t, nil)})
	require.NoError(t, err)
	_, err = l.AddUnits(ctx(t), 2)
	require.NoError(t, err)
	assert.Equal(t, 4, count(processesOf(t, l.Dir()), "ovsdb-server -v"))
	assert.Equal(t, 1, count(processesOf(t, l.Dir()), "ovn-lab-guard "))
	assert.Equal(t, 3, count(processesOf(t, l.Dir()), "ovn-lab-init "), "of two machines and of the hub")
	require.NoError(t, l.Close())
	assert.Empty(t, processesOf(t, l.Dir()))
	assert.NoDirExists(t, l.Dir())
}

func TestGuardCleansUpAfterAnOwnerThatIsKilled(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx(t), program)
	cmd.Env = append(os.Environ(), ownerVariable+"="+newCharm(t, nil))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	dir, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	dir = strings.TrimSpace(dir)
	require.DirExists(t, dir)
	assert.Equal(t, 2, count(processesOf(t, dir), "ovsdb-server -v"))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	await(t, func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
	assert.Empty(t, processesOf(t, dir))
}

func TestLabsThatCantBeMade(t *testing.T) {
	good := newCharm(t, nil)
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	notExecutable := newCharm(t, nil)
	require.NoError(t, os.Chmod(filepath.Join(notExecutable, "dispatch"), 0o644))
	noMetadata := newCharm(t, nil)
	require.NoError(t, os.Remove(filepath.Join(noMetadata, "metadata.yaml")))
	tests := map[string]struct {
		options lab.Options
		err     string
	}{
		"no charm":             {lab.Options{}, "cannot read the charm"},
		"dispatch can't run":   {lab.Options{Charm: notExecutable}, "isn't executable"},
		"no metadata":          {lab.Options{Charm: noMetadata}, "metadata.yaml"},
		"a path too long":      {lab.Options{Charm: good, Dir: "/tmp/" + strings.Repeat("x", 80)}, "too long for sockets"},
		"a directory in use":   {lab.Options{Charm: good, Dir: full}, "it isn't empty"},
		"a program that isn't": {lab.Options{Charm: good, Program: "/nonexistent"}, "/nonexistent"},
		// Else the copy would copy itself, until the path is too long.
		"in its charm's directory": {lab.Options{Charm: good, Dir: filepath.Join(good, "lab")}, "into itself"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := lab.New(ctx(t), test.options)
			require.ErrorContains(t, err, test.err)
		})
	}
}

func TestCharmsOutputIsKeptAndShown(t *testing.T) {
	var log strings.Builder
	l := newLab(t, lab.Options{Log: &log, Charm: newCharm(t, scripts{"update-status": "echo out; echo err >&2; juju-log -l DEBUG from the log"})})
	u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
	require.NoError(t, err)
	require.NoError(t, l.UpdateStatus(ctx(t)))
	for _, text := range []string{log.String(), read(t, u.CharmDir(), "../hooks.log")} {
		assert.Contains(t, text, "out\n")
		assert.Contains(t, text, "err\n")
		assert.Contains(t, text, "DEBUG from the log\n")
	}
	assert.Contains(t, log.String(), "ovn-central/0 update-status: err\n")
}
