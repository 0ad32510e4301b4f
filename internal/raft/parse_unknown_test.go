package raft

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse_keeps_unknown_lines(t *testing.T) {
	t.Parallel()
	text := capture(t, "nb-3member-leader.txt")
	known, err := Parse(text)
	require.NoError(t, err)

	tests := map[string]struct {
		before string // the unknown lines are before this
		lines  string
		want   []Unknown
	}{
		"between two lines":         {"Role: leader", "Pre-vote: yes\n", []Unknown{{7, "Pre-vote: yes"}}},
		"key like a known one":      {"Role: leader", "Leader ID: 7d80\n", []Unknown{{7, "Leader ID: 7d80"}}},
		"a second empty line":       {"Last Election started", "\n", []Unknown{{12, ""}}},
		"an early empty line":       {"Term: 2", "\n", []Unknown{{8, ""}}},
		"rows of another section":   {"Servers:", "Learners:\n    abcd (abcd at tcp:a:1)\n", []Unknown{{20, "Learners:"}, {21, "    abcd (abcd at tcp:a:1)"}}},
		"a section below":           {"", "Clients:\n    12 now\n", []Unknown{{24, "Clients:"}, {25, "    12 now"}}},
		"an empty line at the end":  {"", "\n", []Unknown{{24, ""}}},
		"lines far from each other": {"Name:", "a\nb\n", []Unknown{{2, "a"}, {3, "b"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			extended := text + tt.lines
			if tt.before != "" {
				extended = edit(t, text, "\n"+tt.before, "\n"+tt.lines+tt.before)
			}
			got, err := Parse(extended)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Unknown)
			assert.Equal(t, extended, got.String())

			got.Unknown = nil
			assert.Equal(t, known, got, "an unknown line must not change what the others say")
		})
	}
}

func TestParse_keeps_rest_of_row(t *testing.T) {
	t.Parallel()
	head := Member{Short: "c14a", Address: "tcp:127.77.1.3:6643"}
	with := func(change func(m *Member)) Member {
		m := head
		change(&m)
		return m
	}
	const indexes, last = " next_index=6 match_index=5", " last msg 140 ms ago"
	tests := map[string]struct {
		rest string
		want Member
	}{
		"nothing": {"", head},
		"a phase that is not known": {" (observing)" + indexes, with(func(m *Member) {
			m.Extra = " (observing)" + indexes
		})},
		"a phase that begins like a known one": {" (removing: slow)", with(func(m *Member) {
			m.Extra = " (removing: slow)"
		})},
		"a phase that is never printed":  {" (stable)", with(func(m *Member) { m.Extra = " (stable)" })},
		"a vote for an address":          {" (voted for tcp:a:1)", with(func(m *Member) { m.Extra = " (voted for tcp:a:1)" })},
		"an index that is no number":     {" next_index=6 match_index=?" + last, with(func(m *Member) { m.Extra = " next_index=6 match_index=?" + last })},
		"a next index that is no number": {" next_index=? match_index=5" + last, with(func(m *Member) { m.Extra = " next_index=? match_index=5" + last })},
		"one index of two":               {" next_index=6" + last, with(func(m *Member) { m.Extra = " next_index=6" + last })},
		"an index of 65 bits": {" next_index=6 match_index=18446744073709551616", with(func(m *Member) {
			m.Extra = " next_index=6 match_index=18446744073709551616"
		})},
		"a time in seconds": {indexes + " last msg 140 s ago", with(func(m *Member) {
			m.Next, m.Match, m.Extra = new(uint64(6)), new(uint64(5)), " last msg 140 s ago"
		})},
		"a time that overflows": {indexes + " last msg 9223372036855 ms ago", with(func(m *Member) {
			m.Next, m.Match, m.Extra = new(uint64(6)), new(uint64(5)), " last msg 9223372036855 ms ago"
		})},
		"the longest time": {" last msg 9223372036854 ms ago", with(func(m *Member) {
			m.LastMsg = new(ms(9223372036854))
		})},
		"something behind all that is known": {" (removing)" + indexes + last + " lag=3", with(func(m *Member) {
			m.Phase, m.Next, m.Match, m.LastMsg, m.Extra = RemovingPhase, new(uint64(6)), new(uint64(5)), new(ms(140)), " lag=3"
		})},
		"known parts in another order": {last + indexes, with(func(m *Member) {
			m.LastMsg, m.Extra = new(ms(140)), indexes
		})},
	}
	text := capture(t, "nb-3member-leader.txt")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := ":6643)" + indexes + last + "\n    7d80"
			changed := edit(t, text, row, ":6643)"+tt.rest+"\n    7d80")
			got, err := Parse(changed)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Servers[0])
			assert.Len(t, got.Servers, 3)
			assert.Equal(t, changed, got.String())
		})
	}
}

func TestParse_keeps_unknown_phase(t *testing.T) {
	t.Parallel()
	text := edit(t, capture(t, "nb-leader-adding-committing.txt"), "(adding: catchup)", "(adding: thinking)")
	got, err := Parse(text)
	require.NoError(t, err)
	assert.Equal(t, []Pending{{Short: "7c34", Address: "tcp:127.77.16.5:6643", Extra: " (adding: thinking)"}}, got.Adding)
	assert.Equal(t, text, got.String())
}

func TestParse_older_servers_and_addresses(t *testing.T) {
	t.Parallel()
	text := capture(t, "nb-joining-learned-cid.txt")
	tests := map[string]struct{ old, with string }{
		"no Disconnections, before OVS 2.15": {"Disconnections: 0\n", ""},
		"several remotes":                    {"joining: tcp:127.77.7.1:6643", "joining: tcp:127.77.7.1:6643 ssl:[fd77::2]:6643"},
		"a host name":                        {"Address: tcp:127.77.7.4:6643", "Address: ssl:node-4.example:6643"},
		"a link-local address":               {"Address: tcp:127.77.7.4:6643", "Address: tcp:[fe80::1%eth0]:6643"},
		"a vote for a server that is gone":   {"Vote: unknown", "Vote: 0000"},
		"the largest term":                   {"Term: 2", "Term: 18446744073709551615"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := edit(t, text, tt.old, tt.with)
			got, err := Parse(changed)
			require.NoError(t, err)
			assert.Equal(t, changed, got.String())
			assert.Empty(t, got.Unknown)
		})
	}
}

func TestParse_order_of_remotes(t *testing.T) {
	t.Parallel()
	text := edit(t, capture(t, "nb-joining-learned-cid.txt"), "joining: tcp:127.77.7.1:6643", "joining: tcp:b:2 tcp:a:1 ssl:[fd77::2]:6643")
	got, err := Parse(text)
	require.NoError(t, err)
	assert.Equal(t, []string{"tcp:b:2", "tcp:a:1", "ssl:[fd77::2]:6643"}, got.Remotes)
}

func TestParse_missing_final_newline(t *testing.T) {
	t.Parallel()
	statuses, _ := captures(t)
	for _, name := range statuses {
		text := capture(t, name)
		whole, err := Parse(text)
		require.NoError(t, err, name)
		got, err := Parse(strings.TrimSuffix(text, "\n"))
		require.NoError(t, err, name)
		assert.Equal(t, whole, got, name)
	}
}
