package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// A healthy unit's update-status against the same calls, made one after the other by a shell in the same hook. What a
// hook takes that does nothing is taken off both. Bounds: 12 hook tools, 2 ovs-appctl for each database, 5 times.
func BenchmarkUpdateStatusAgainstItsCalls(b *testing.B) {
	l := cluster(b)
	for _, u := range l.Units()[:2] {
		b.Run(u.Name(), func(b *testing.B) {
			seen, err := l.RunHookKilledAt(b.Context(), u, "update-status", 0)
			require.NoError(b, err)
			charm := moveCharm(b, u)
			shell := script(b, "calls", byHand(seen.Calls))
			nothing := script(b, "nothing", "")

			var hook, hand, idle time.Duration
			for b.Loop() {
				hook += updateStatus(b, l, u, charm)
				hand += updateStatus(b, l, u, shell)
				idle += updateStatus(b, l, u, nothing)
			}
			tools, appctl := counted(seen.Calls)
			b.ReportMetric(float64(hook-idle)/float64(hand-idle), "times-its-calls")
			b.ReportMetric(float64((hook-idle).Microseconds())/float64(b.N)/1000, "ms")
			b.ReportMetric(float64(tools), "hook-tools")
			b.ReportMetric(float64(appctl), "appctl-max-of-a-database")
		})
	}
}

// moveCharm moves a unit's charm until the benchmark ends, so that other programs can take its place.
func moveCharm(b *testing.B, u *lab.Unit) (moved string) {
	b.Helper()
	dispatch := filepath.Join(u.CharmDir(), "dispatch")
	moved = dispatch + ".charm"
	require.NoError(b, os.Rename(dispatch, moved))
	b.Cleanup(func() { require.NoError(b, os.Rename(moved, dispatch)) })
	return moved
}

func updateStatus(b *testing.B, l *lab.Lab, u *lab.Unit, program string) time.Duration {
	b.Helper()
	dispatch := filepath.Join(u.CharmDir(), "dispatch")
	require.NoError(b, os.Link(program, dispatch))
	defer func() { require.NoError(b, os.Remove(dispatch)) }()
	begun := time.Now()
	_, err := l.RunHookKilledAt(b.Context(), u, "update-status", 0)
	require.NoError(b, err)
	return time.Since(begun)
}

func script(b *testing.B, name, text string) string {
	b.Helper()
	path := filepath.Join(filepath.Dir(charmDir), strings.ReplaceAll(b.Name(), "/", "-")+name)
	require.NoError(b, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755)) //nolint:gosec // run
	b.Cleanup(func() { require.NoError(b, os.Remove(path)) })
	return path
}

// byHand converts calls to lines of a shell. Of the charm's arguments only the message of status-set has spaces.
func byHand(calls []string) string {
	var lines strings.Builder
	for _, call := range calls {
		words := strings.Fields(call)
		if words[0] == "status-set" {
			words = strings.SplitN(call, " ", 4)
		}
		for i, word := range words {
			words[i] = "'" + word + "'"
		}
		input := "</dev/null"
		if strings.HasSuffix(call, " --file -") {
			input = "<<'.'\n{}\n."
		}
		lines.WriteString(strings.Join(words, " ") + " >/dev/null " + input + "\n")
	}
	return lines.String()
}

// counted returns the number of hook tools, and of ovs-appctl for the database with most of them.
func counted(calls []string) (tools, appctl int) {
	of := map[lab.DB]int{}
	for _, call := range calls {
		program, _, _ := strings.Cut(call, " ")
		switch program {
		case "ovs-appctl":
			for _, db := range lab.Databases {
				if strings.Contains(call, "ovn"+string(db)+"_db.ctl") {
					of[db]++
				}
			}
		case "systemctl", "dpkg-query", "ovsdb-client", "ovsdb-tool", "ufw", "snap":
		default:
			tools++
		}
	}
	return tools, max(of[lab.NB], of[lab.SB])
}
