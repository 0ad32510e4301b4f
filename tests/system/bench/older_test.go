package bench

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// pythonOverOlder is the processor time of the Python charm's cluster-status divided by that of commit 1afde03. On one
// machine the Python charm took 604 ms, of which Juju's runner takes 55 ms; 1afde03 took 41 ms without the runner.
const pythonOverOlder = (604 - 55) / 41.0

var older = flag.String("bench.older", "1afde03", "the commit to compare with")

// cluster-status against the charm of an older commit, on the same healthy units: the processor time of the action and
// of all that it starts, less that of an action that does nothing. Bound: 1.
func BenchmarkClusterStatusAgainstOlderCommit(b *testing.B) {
	before := buildOlder(b)
	l := cluster(b)
	for _, u := range l.Units()[:2] {
		b.Run(u.Name(), func(b *testing.B) {
			now := moveCharm(b, u)
			nothing := script(b, "nothing", "")

			var after, of, idle time.Duration
			for b.Loop() {
				of += clusterStatus(b, l, u, before)
				after += clusterStatus(b, l, u, now)
				idle += clusterStatus(b, l, u, nothing)
			}
			ratio := float64(after-idle) / float64(of-idle)
			b.ReportMetric(ratio, "times-older")
			b.ReportMetric(ratio/pythonOverOlder, "times-python-charm")
			b.ReportMetric(float64((after-idle).Microseconds())/float64(b.N)/1000, "cpu-ms")
			b.ReportMetric(float64(idle.Microseconds())/float64(b.N)/1000, "idle-cpu-ms")
		})
	}
}

// buildOlder builds the binary of the older commit, as the lab builds that of this one.
func buildOlder(b *testing.B) string {
	b.Helper()
	root, err := exec.CommandContext(b.Context(), "git", "rev-parse", "--show-toplevel").Output()
	require.NoError(b, err)
	dir := b.TempDir()
	script := `set -e; git archive "$1" | tar -x -C "$2"; cd "$2"
go build -trimpath -ldflags='-s -w' -o dispatch ./cmd/ovn-central-operator`
	build := exec.CommandContext(b.Context(), "bash", "-o", "pipefail", "-c", script, "-", *older, dir)
	build.Dir = string(root[:len(root)-1])
	out, err := build.CombinedOutput()
	require.NoError(b, err, "%s", out)
	return filepath.Join(dir, "dispatch")
}

func clusterStatus(b *testing.B, l *lab.Lab, u *lab.Unit, program string) time.Duration {
	b.Helper()
	dispatch := filepath.Join(u.CharmDir(), "dispatch")
	require.NoError(b, os.Symlink(program, dispatch))
	defer func() { require.NoError(b, os.Remove(dispatch)) }()
	_, err := l.RunAction(b.Context(), u, "cluster-status") // each program finds its own caches
	require.NoError(b, err)
	begun := children(b)
	result, err := l.RunAction(b.Context(), u, "cluster-status")
	require.NoError(b, err)
	took := children(b) - begun
	require.Equal(b, "completed", result.Status)
	return took
}

// children returns the processor time of all processes that ended and were started by this one, and by those.
func children(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
