package labtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// FailOnce has the first of these calls on the Northbound file of a unit fail with this
// error. What it returns waits until that has happened: a follower may still be about to
// write what the others have stored.
func (m *Model) FailOnce(u *lab.Unit, calls, errno string) (end func()) {
	m.T.Helper()
	pid, err := u.ServerPID(lab.NB)
	require.NoError(m.T, err)
	ctx, cancel := context.WithCancel(m.T.Context())
	m.T.Cleanup(cancel)
	trace := filepath.Join(m.T.TempDir(), "strace")
	strace := exec.CommandContext(ctx, "strace", "-f", "-o", trace, "-p", strconv.Itoa(pid),
		"-P", u.DBFile(lab.NB), "-e", "trace="+calls, "-e", "inject="+calls+":error="+errno+":when=1")
	attached, err := strace.StderrPipe()
	require.NoError(m.T, err)
	require.NoError(m.T, strace.Start())
	for lines := bufio.NewReader(attached); ; {
		line, err := lines.ReadString('\n')
		require.NoError(m.T, err, "strace says when it is attached")
		if strings.Contains(line, "attached") {
			break
		}
	}
	return func() {
		m.Eventually("a call that has failed", func() bool {
			calls, err := os.ReadFile(trace)
			require.NoError(m.T, err)
			return strings.Contains(string(calls), "(INJECTED)")
		})
		cancel()
		_ = strace.Wait() // ended by us
	}
}

// WatchQuorum looks, as long as the test runs, at how many servers of each database know a leader. It
// returns a function that ends that and requires that there was always a majority.
func (m *Model) WatchQuorum() (stop func()) {
	m.T.Helper()
	ctx, cancel := context.WithCancel(m.T.Context())
	ended := make(chan []string)
	go func() {
		var lost []string
		for ctx.Err() == nil {
			for _, db := range lab.Databases {
				running := 0
				for _, u := range m.Deployed {
					if u.Running(db) {
						running++
					}
				}
				if 2*running <= len(m.Deployed) {
					lost = append(lost, fmt.Sprintf("%s: %d of %d servers run", db, running, len(m.Deployed)))
				}
			}
			_ = poll.Wait(ctx, betweenLooks)
		}
		ended <- lost
	}()
	return func() {
		m.T.Helper()
		cancel()
		require.Empty(m.T, <-ended, "a majority was down")
	}
}
