package raft

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const captured = "testdata/cluster-status"

// capture returns the text of a file in testdata.
func capture(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(captured, name))
	require.NoError(t, err)
	return string(text)
}

// captures returns the names of the files in testdata: those with a status, and the others.
func captures(t testing.TB) (statuses, others []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(captured, "*.txt"))
	require.NoError(t, err)
	for _, path := range paths {
		switch name := filepath.Base(path); {
		case name == "errors.txt", name == "server-table.txt", name == "unixctl-jsonrpc.txt", strings.HasSuffix(name,
			".stderr.txt"):
			others = append(others, name)
		default:
			statuses = append(statuses, name)
		}
	}
	require.NotEmpty(t, statuses)
	require.NotEmpty(t, others)
	return statuses, others
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func TestParse_every_field(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file string
		want Status
	}{
		"leader": {"nb-3member-leader.txt", Status{
			Name:    "OVN_Northbound",
			Cluster: "f3b03511-e217-40a8-8457-fbae1b4bf63f", Server: "7d8017e6-7fae-4d5c-b09d-c3301d930b5b",
			Address: "tcp:127.77.1.1:6643", State: ClusterMember, Role: Leader, Term: 2, Leader: Self, Vote: Self,
			ElectionTimer: time.Second,
			Log:           Log{Start: 2, End: 6},
			Connections: []Connection{
				{Peer: "6e62", Incoming: true, Up: true},
				{Peer: "6e62", Up: true},
				{Peer: "c14a", Incoming: true, Up: true},
				{Peer: "c14a", Up: true},
			},
			Servers: []Member{
				{Short: "c14a", Address: "tcp:127.77.1.3:6643", Match: new(uint64(5)), LastMsg: new(ms(140))},
				{Short: "7d80", Address: "tcp:127.77.1.1:6643", Self: true, Match: new(uint64(5))},
				{Short: "6e62", Address: "tcp:127.77.1.2:6643", Match: new(uint64(5)), LastMsg: new(ms(140))},
			},
		}},
		"candidate with votes": {"nb-candidate-with-votes.txt", Status{
			Name:    "OVN_Northbound",
			Cluster: "fbfa9ba5-fa19-48e3-a125-fbabe8186c7a", Server: "74e541cd-10c9-413f-b36b-c289d80fb736",
			Address: "tcp:127.77.16.1:6643", State: Disconnected, Role: Candidate, Term: 3, Leader: UnknownRef, Vote: Self,
			ElectionTimer: time.Second,
			Log:           Log{Start: 2, End: 6},
			Connections:   []Connection{{Peer: "b72b", Up: true}, {Peer: "cd97"}, {Peer: "b72b", Incoming: true, Up: true}},
			Servers: []Member{
				{Short: "b72b", Address: "tcp:127.77.16.2:6643", LastMsg: new(ms(0))},
				{Short: "74e5", Address: "tcp:127.77.16.1:6643", Self: true},
				{Short: "cd97", Address: "tcp:127.77.16.3:6643"},
			},
		}},
		"joining with an unknown cluster": {"nb-joining-remote-unreachable.txt", Status{
			Name: "OVN_Northbound", Server: "94740072-fe63-4c80-b7ca-8df80c95cdbc",
			Address: "tcp:127.77.7.2:6643", State: JoiningCluster, Remotes: []string{"tcp:127.77.7.1:6643"},
			Role: Follower, Leader: UnknownRef, Vote: UnknownRef, ElectionTimer: time.Second,
			Log: Log{Start: 1, End: 1}, Connections: []Connection{{Peer: "0000"}},
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(capture(t, tt.file))
			require.NoError(t, err)
			tt.want.Text = got.Text
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestParse_lines_of_some_states(t *testing.T) {
	t.Parallel()
	s := captureStatus(t, "nb-leader-adding-committing")
	assert.Equal(t, AddingCommitting, s.Servers[1].Phase)
	s = captureStatus(t, "nb-leader-two-removals-pending")
	assert.Equal(t, []Member{{Short: "25b7", Address: "tcp:127.77.16.2:6643", Phase: RemovingPhase}}, s.Removing)
	assert.Equal(t, RemovingPhase, s.Servers[0].Phase)
	assert.Equal(t, []uint64{1, 1}, []uint64{s.NotCommitted, s.NotApplied})
	s = captureStatus(t, "nb-election-timer-changing")
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second}, []time.Duration{s.ElectionTimer, s.ChangingTo})
	s = captureStatus(t, "nb-ipv6-leader")
	assert.Equal(t, []string{"tcp:[fd77:77::1]:6643", "tcp:[fd77:77::3]:6643"}, []string{s.Address, s.Servers[1].Address})
	s = captureStatus(t, "sb-5member-follower-one-dead")
	assert.Equal(t, Connection{Peer: "431d"}, s.Connections[1])
}

// All lines of real servers are known. Only these captures have no leader.
func TestParse_captured_states(t *testing.T) {
	t.Parallel()
	without := map[string]bool{
		"nb-2member-other-dead-leaving.txt": true, "nb-candidate-alone.txt": true, "nb-candidate-with-votes.txt": true,
		"nb-ex-leader-no-quorum.txt": true, "nb-follower-leader-unknown-voted-other.txt": true,
		"nb-joining-remote-unreachable.txt": true, "nb-joining-wrong-cid.txt": true,
		"nb-just-restarted-alone.txt": true, "nb-kicked-while-down-then-restarted.txt": true,
		"nb-leader-kick-no-quorum.txt": true, "nb-no-quorum-candidate-survivor.txt": true, "nb-no-quorum-leaving.txt": true,
		"nb-restarted-after-being-removed-while-down.txt": true, "nb-single-after-leave.txt": true,
		"ovs36-nb-single-leaving.txt": true,
	}
	statuses, _ := captures(t)
	for _, name := range statuses {
		text := capture(t, name)
		s, err := Parse(text)
		require.NoError(t, err, name)
		assert.Equal(t, !without[name], s.HasLeader(), name)
		assert.Equal(t, text, s.Text)
		assert.Empty(t, s.Unknown, name)
		for _, m := range s.Servers {
			assert.Empty(t, m.Extra, name)
		}
		cut, err := Parse(strings.TrimSuffix(text, "\n"))
		require.NoError(t, err, name)
		cut.Text = text
		assert.Equal(t, s, cut, name)
	}
}

func TestParse_refuses_other_text(t *testing.T) {
	t.Parallel()
	_, others := captures(t)
	for _, name := range others {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(capture(t, name))
			var refused *ParseError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, 1, refused.Line)
		})
	}
}

// A text that is cut before the end of "Servers:" is an error. A text that is cut later is an error, or has the same
// values above the rows and the same rows; the last row may have fewer values or a smaller match_index.
func TestParse_cut_text_invents_no_value(t *testing.T) {
	t.Parallel()
	statuses, _ := captures(t)
	for _, name := range statuses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := capture(t, name)
			full, err := Parse(text)
			require.NoError(t, err)
			complete := strings.Index(text, "\nServers:") + len("\nServers:")

			var parsed int
			for end := range len(text) {
				got, err := Parse(text[:end])
				if end < complete {
					require.Error(t, err, "cut at byte %d", end)
					continue
				}
				if err != nil {
					continue
				}
				parsed++
				requireCutOf(t, full, got, end)
			}
			assert.GreaterOrEqual(t, parsed, max(len(full.Servers), 1), "a cut between two rows can't be seen")
		})
	}
}

func requireCutOf(t *testing.T, full, got Status, end int) {
	t.Helper()
	require.LessOrEqual(t, len(got.Servers), len(full.Servers), "cut at byte %d", end)
	for i, m := range got.Servers {
		want := full.Servers[i]
		if i < len(got.Servers)-1 {
			require.Equal(t, want, m, "cut at byte %d", end)
			continue
		}
		require.Equal(t, [...]string{want.Short, want.Address}, [...]string{m.Short, m.Address}, "cut at byte %d", end)
		require.True(t, !m.Self || want.Self, "cut at byte %d", end)
		require.Contains(t, []Phase{"", want.Phase}, m.Phase, "cut at byte %d", end)
		if m.Match != nil {
			require.True(t, strings.HasPrefix(decimal(*want.Match), decimal(*m.Match)), "cut at byte %d", end)
		}
		if m.LastMsg != nil {
			require.Equal(t, want.LastMsg, m.LastMsg, "cut at byte %d", end)
		}
	}
	full.Servers, got.Servers, got.Text = nil, nil, full.Text
	require.Equal(t, full, got, "cut at byte %d", end)
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// FuzzParse shows that Parse never panics, and that its errors are short and of one type.
func FuzzParse(f *testing.F) {
	statuses, others := captures(f)
	for _, name := range append(statuses, others...) {
		f.Add(capture(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err == nil {
			require.Equal(t, text, s.Text)
			return
		}
		var refused *ParseError
		require.ErrorAs(t, err, &refused)
		// The error quotes at most a line and one of its values, each byte as four or fewer.
		require.LessOrEqual(t, len(err.Error()), 10*maxQuoted)
	})
}

func BenchmarkParseFiveMembers(b *testing.B) {
	text := capture(b, "sb-5member-leader-one-dead.txt")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
