// Package bench compares the charm with the bare commands on real servers. It prints ratios and asserts nothing.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

var charmDir, program string

func TestMain(m *testing.M) {
	lab.Main(m, func(ctx context.Context, dir, root string) error {
		charmDir, program = filepath.Join(dir, "charm"), filepath.Join(dir, "ovn-lab")
		return errors.Join(os.Mkdir(charmDir, 0o755), lab.LayOut(ctx, charmDir, root, ""), lab.BuildTools(ctx, root, program))
	})
}

// empty is a lab without units, with this package's configuration.
func empty(b *testing.B, o lab.Options) *lab.Lab {
	b.Helper()
	o.Charm, o.Program, o.ElectionTimer = charmDir, program, time.Second
	l, err := lab.New(b.Context(), o)
	require.NoError(b, err)
	b.Cleanup(func() { l.CloseOrKeep(b) })
	require.NoError(b, l.Configure(b.Context(), map[string]string{"source": "distro", "ovsdb-server-election-timer": "1"}))
	return l
}

// cluster returns a lab with three active units.
func cluster(b *testing.B) *lab.Lab {
	b.Helper()
	l := empty(b, lab.Options{})
	_, err := l.RelateCA(b.Context())
	require.NoError(b, err)
	units, err := l.AddUnits(b.Context(), 3)
	require.NoError(b, err)
	require.True(b, working(units), "%v", units[0].Workload())
	return l
}

func working(units []*lab.Unit) bool {
	for _, u := range units {
		if u.Workload().Status != "active" {
			return false
		}
	}
	return true
}

// tools replaces Juju's hook tools by scripts that answer at once, so that their cost is the same on both sides.
func tools(b *testing.B, l *lab.Lab) string {
	b.Helper()
	dir := b.TempDir()
	goal := []string{}
	for _, u := range l.Units() {
		goal = append(goal, fmt.Sprintf("%q:{\"status\":\"active\"}", u.Name()))
	}
	answers := map[string]string{
		"goal-state": `{"units":{` + strings.Join(goal, ",") + `}}`, "relation-ids": "[]", "is-leader": "false", "config-get": "{}",
		"action-get": "{}", "action-set": "", "action-log": "", "action-fail": "", "juju-log": "", "status-set": "",
	}
	for name, answer := range answers {
		require.NoError(b, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+answer+"'\n"), 0o755)) //nolint:gosec // run
	}
	return dir
}

func environment(u *lab.Unit, dir, action string) []string {
	return []string{
		"PATH=" + dir + ":" + os.Getenv("PATH"), "JUJU_UNIT_NAME=" + u.Name(), "JUJU_DISPATCH_PATH=actions/" + action, "JUJU_VERSION=3.6.11",
		"OVN_RUNDIR=" + u.RunDir(), "OVN_DBDIR=" + u.DBDir(), "OVN_SYSCONFDIR=" + u.SysconfDir(),
	}
}

func inside(b *testing.B, u *lab.Unit, command ...string) []string {
	b.Helper()
	namespace, err := u.Namespace()
	require.NoError(b, err)
	return append([]string{"nsenter", "--net=" + namespace, "--"}, command...)
}

func timed(b testing.TB, env []string, command ...string) (time.Duration, *os.ProcessState) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = env
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begun)
	require.NoError(b, err, string(out))
	return took, cmd.ProcessState
}

// The action against the same two ovs-appctl run by a shell. Bound: 1.5, without what the hook tools take.
func BenchmarkClusterStatusAgainstTwoAppctl(b *testing.B) {
	l := cluster(b)
	dir := tools(b, l)
	for _, u := range l.Units()[:2] {
		b.Run(u.Name(), func(b *testing.B) {
			env := environment(u, dir, "cluster-status")
			script := "ovs-appctl -t " + u.Ctl(lab.SB) + " cluster/status OVN_Southbound; ovs-appctl -t " + u.Ctl(lab.NB) + " cluster/status OVN_Northbound"
			var action, shell, start, hookTools time.Duration
			var rss int64
			for b.Loop() {
				took, _ := timed(b, env, inside(b, u, filepath.Join(charmDir, "dispatch"), "--version")...)
				start += took
				took, state := timed(b, env, inside(b, u, filepath.Join(charmDir, "dispatch"))...)
				action += took
				rss = max(rss, state.SysUsage().(*syscall.Rusage).Maxrss)
				took, _ = timed(b, env, inside(b, u, "sh", "-c", script)...)
				shell += took
				for _, tool := range []string{"action-get", "config-get", "goal-state", "relation-ids", "is-leader", "action-set"} {
					took, _ = timed(b, env, filepath.Join(dir, tool))
					hookTools += took
				}
			}
			b.ReportMetric(float64(action-hookTools)/float64(shell), "times-two-appctl")
			b.ReportMetric(float64(start)/float64(shell), "start-times-two-appctl")
			b.ReportMetric(float64(action)/float64(shell), "with-tools-times-two-appctl")
			b.ReportMetric(float64(rss)/1024, "MiB-max")
		})
	}
}

// From the binary's start to its first hook tool, against a program that does nothing. Bound: 10 ms and 25 MB.
func BenchmarkStartToFirstAction(b *testing.B) {
	dir := b.TempDir()
	// The first call of the action fails, and nothing follows.
	require.NoError(b, os.WriteFile(filepath.Join(dir, "action-get"), []byte("#!/bin/sh\nexit 1\n"), 0o755)) //nolint:gosec // run
	env := []string{"PATH=" + dir, "JUJU_UNIT_NAME=ovn-central/0", "JUJU_DISPATCH_PATH=actions/cluster-status"}
	var start, tool, nothing time.Duration
	var rss int64
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), filepath.Join(charmDir, "dispatch"))
		cmd.Env = env
		begun := time.Now()
		require.Error(b, cmd.Run())
		start += time.Since(begun)
		rss = max(rss, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		begun = time.Now()
		require.Error(b, exec.CommandContext(b.Context(), filepath.Join(dir, "action-get")).Run())
		tool += time.Since(begun)
		took, _ := timed(b, env, "/bin/true")
		nothing += took
	}
	b.ReportMetric(float64((start-tool).Microseconds())/float64(b.N)/1000, "ms-to-first-action")
	b.ReportMetric(float64(start-tool)/float64(nothing), "times-bin-true")
	b.ReportMetric(float64(rss)/1024, "MiB-max")
}

// A follower's whole hook stop against its bare leave and the stop of its services. Bound: 0.3 s over the leave itself.
func BenchmarkFollowersStopAgainstBareLeave(b *testing.B) {
	l := cluster(b)
	var hook, bare, services time.Duration
	for b.Loop() {
		u, err := l.AddUnit(b.Context())
		require.NoError(b, err)
		require.NoError(b, l.BeginRemoval(b.Context(), u))
		begun := time.Now()
		require.NoError(b, l.RunHook(b.Context(), u, "stop"))
		hook += time.Since(begun)
		require.NoError(b, l.RemoveUnit(b.Context(), u, lab.RemoveOptions{}))

		other, err := l.AddUnit(b.Context())
		require.NoError(b, err)
		begun = time.Now()
		for _, db := range lab.Databases {
			leave(b, other, db)
		}
		bare += time.Since(begun)
		begun = time.Now()
		_, _, err = other.Systemctl(b.Context(), "stop", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-central")
		require.NoError(b, err)
		services += time.Since(begun)
		require.NoError(b, l.RemoveUnit(b.Context(), other, lab.RemoveOptions{Force: true}))
	}
	n := float64(b.N) * 1000
	b.ReportMetric(float64((hook-bare).Microseconds())/n, "ms-over-bare-leave")
	b.ReportMetric(float64((hook-bare-services).Microseconds())/n, "ms-over-leave-and-services")
	b.ReportMetric(float64(hook)/float64(bare), "times-bare-leave")
}

// leave does what an operator does by hand, and waits for it.
func leave(b *testing.B, u *lab.Unit, db lab.DB) {
	b.Helper()
	_, err := u.Appctl(b.Context(), db, "cluster/leave", db.Schema())
	require.NoError(b, err)
	require.Eventually(b, func() bool {
		_, err := u.Status(b.Context(), db)
		return err != nil
	}, 10*time.Second, time.Millisecond)
}
