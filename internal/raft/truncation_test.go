package raft

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Parse's promise about a truncated text: before the end of "Servers:" it is an error; after it, an error or the same
// values above the rows, the same rows but the last one, and a last row with fewer values or a smaller match_index, but
// never another value.
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
		require.Contains(t, []string{"", want.VotedFor}, m.VotedFor, "cut at byte %d", end)
		if m.Next != nil {
			require.Equal(t, want.Next, m.Next, "cut at byte %d", end)
			require.True(t, strings.HasPrefix(decimal(*want.Match), decimal(*m.Match)), "cut at byte %d", end)
		}
		if m.LastMsg != nil {
			require.Equal(t, want.LastMsg, m.LastMsg, "cut at byte %d", end)
		}
	}
	full.Servers, got.Servers = nil, nil
	require.Equal(t, full, got, "cut at byte %d", end)
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
