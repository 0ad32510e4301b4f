package lab_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

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

func count(lines []string, word string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(line, word) {
			n++
		}
	}
	return n
}

func TestClose_leaves_nothing(t *testing.T) {
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

func TestGuard_cleans_up_after_killed_owner(t *testing.T) {
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
		return os.IsNotExist(err) && len(processesOf(t, dir)) == 0 // the guard itself ends last
	})
}

// failVariable makes the test below fail with a lab, in a separate process.
const failVariable = "OVN_LAB_TEST_FAIL"

// A test that fails with KEEP=1 leaves a lab that the commands which it prints show, use and end.
func TestKeep_lab_of_failed_test(t *testing.T) {
	if os.Getenv(failVariable) != "" {
		withUnits(t, 1, false, scripts{"update-status": "is-leader --format=json; echo \"$JUJU_HOOK_NAME\""})
		t.Fatal(failVariable)
	}
	out := failWith(t, lab.KeepVariable+"=1")
	found := regexp.MustCompile(`its lab stays in (\S+)\.\n`).FindSubmatch(out)
	require.NotNil(t, found, "%s", out)
	dir := string(found[1])
	commands := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^ +(go -C \S+ run \S+/ovn-lab --dir \S+ (\S+).*)$`).FindAllSubmatch(out, -1) {
		commands[string(match[2])] = string(match[1])
	}
	t.Cleanup(func() {
		if _, err := os.Stat(dir); err == nil {
			assert.NoError(t, exec.Command("sh", "-c", commands["down"]).Run())
		}
	})
	require.Len(t, commands, 3, "%s", out)
	logs := filepath.Join(dir, "ovn-central-0", "hooks.log")
	assert.Contains(t, string(out), logs)
	before := read(t, logs)

	assert.Regexp(t, `ovn-central/0\* .* idle .* nb:up sb:up`, typedIn(t, commands["status"]))
	typedIn(t, commands["exec-hook"])
	assert.Contains(t, strings.TrimPrefix(read(t, logs), before), "true\nupdate-status\n")

	typedIn(t, commands["down"])
	assert.NoDirExists(t, dir)
	assert.Empty(t, processesOf(t, dir))
}

// failWith runs the test above so that it fails, and returns its output.
func failWith(t *testing.T, variable string) []byte {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx(t), program, "-test.run=^TestKeep_lab_of_failed_test$")
	cmd.Env = append(os.Environ(), failVariable+"=1", variable)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), failVariable)
	return out
}

func typedIn(t *testing.T, line string) string {
	t.Helper()
	out, err := exec.CommandContext(ctx(t), "sh", "-c", line).CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
	return string(out)
}
