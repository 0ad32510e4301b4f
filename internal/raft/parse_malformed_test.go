package raft

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edit replaces the only occurrence of old in text.
func edit(t testing.TB, text, old, with string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), "%q must occur once", old)
	return strings.Replace(text, old, with, 1)
}

func TestParse_error_has_line_and_reason(t *testing.T) {
	t.Parallel()
	const (
		leader  = "nb-3member-leader.txt"
		changer = "nb-election-timer-changing.txt"
		joiner  = "nb-joining-learned-cid.txt"
		remover = "nb-leader-two-removals-pending.txt"
	)
	tests := map[string]struct {
		file, old, with string
		line            int
	}{
		"first line is not hex":    {leader, "7d80\nName", "7D80\nName", 1},
		"name of two words":        {leader, "OVN_Northbound", "OVN Northbound", 2},
		"cluster ID in upper case": {leader, "f3b0 (f3b03511", "f3b0 (F3b03511", 3},
		"cluster ID of others":     {leader, "f3b0 (f3b0", "f3b1 (f3b0", 3},
		"cluster ID is cut":        {leader, "fbae1b4bf63f)", "fbae1b4bf63)", 3},
		"server ID is not known":   {leader, "7d80 (7d8017e6-7fae-4d5c-b09d-c3301d930b5b)", "not yet known", 4},
		"server ID of another":     {leader, "7d80 (7d8017e6", "7d81 (7d8117e6", 4},
		"unix address":             {leader, "Address: tcp:127.77.1.1:6643", "Address: unix:s1.raft", 5},
		"address without port":     {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:127.77.1.1", 5},
		"address with port 65536":  {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:h:65536", 5},
		"IPv6 without brackets":    {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:fd77::1:6643", 5},
		"unknown_state":            {leader, "cluster member", "cluster", 6},
		"joining without a remote": {joiner, " tcp:127.77.7.1:6643\nRole", "\nRole", 7},
		"removal without an ID":    {remover, "25b7 (25b7 at tcp", "25b7 (tcp", 7},
		"unknown_role":             {leader, "Role: leader", "Role: learner", 7},
		"term has leading zeros":   {leader, "Term: 2", "Term: 02", 8},
		"term has 65 bits":         {leader, "Term: 2", "Term: 18446744073709551616", 8},
		"term is empty":            {leader, "Term: 2", "Term:", 8},
		"term with a space behind": {leader, "Term: 2", "Term: 2 ", 8},
		"leader of three digits":   {leader, "Leader: self", "Leader: 7d8", 9},
		"empty_vote":               {leader, "Vote: self", "Vote:", 10},
		"timer with a unit":        {leader, "timer: 1000", "timer: 1000 ms", 14},
		"timer does not change":    {changer, "changing to 2000", "stays", 14},
		"timer changes to a word":  {changer, "to 2000", "to x", 14},
		"timer changes to nothing": {changer, "to 2000", "to 0", 14},
		"log without brackets":     {leader, "[2, 6]", "2, 6", 15},
		"log without a start":      {leader, "[2, 6]", "[, 6]", 15},
		"log that ends too early":  {leader, "[2, 6]", "[6, 2]", 15},
		"not committed":            {leader, "committed: 0", "committed: none", 16},
		"connection without arrow": {leader, " ->c14a", " c14a", 18},
		"connection half closed":   {leader, " ->c14a", " (->c14a", 18},
		"connection to an address": {leader, " ->c14a", " ->127.0.0.1", 18},
		"connections of one space": {leader, " <-6e62 ->6e62 <-c14a ->c14a", " ", 18},
		"servers on one line":      {leader, "Servers:", "Servers: 3", 20},
		"row without a server":     {leader, "    c14a (c14a at", "    (c14a at", 21},
		"row of two servers":       {leader, "c14a (c14a at", "c14a (c14b at", 21},
		"row without an address":   {leader, "at tcp:127.77.1.3:6643", "at ", 21},
		"row with a small indent":  {leader, "    c14a", "   c14a", 21},
		"row of another section":   {leader, "    6e62", "Learners:\n    6e62", 24},
		"self at another's row": {
			leader, ":6643) next_index=6 match_index=5 last msg 140 ms ago\n    7d80", ":6643) (self)\n    7d80", 21,
		},
		"self twice": {
			leader, "    6e62 (6e62 at tcp:127.77.1.2:6643)", "    7d80 (7d80 at tcp:127.77.1.2:6643) (self)", 23,
		},
		"a line twice":           {leader, "Term: 2", "Term: 2\nTerm: 2", 9},
		"servers twice":          {leader, "    6e62", "Servers:\n    6e62", 23},
		"optional line too late": {leader, "Term: 2", "Term: 2\nRemotes for joining: tcp:a:1", 9},
		"removing after the role": {
			leader, "Term: 2", "Removing server 05be (05be at tcp:127.77.16.3:6643) (removing)\nTerm: 2", 8,
		},
		"CRLF":             {leader, "7d80\nName", "7d80\r\nName", 1},
		"terminal escape":  {leader, "Role: leader", "\x1b[2JRole: leader", 7},
		"delete character": {leader, "(self)", "(self)\x7f", 22},
		"tab before a row": {leader, "    c14a", "\tc14a", 21},
		"invalid UTF-8":    {leader, "Role: leader", "Role: \xff", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(edit(t, capture(t, tt.file), tt.old, tt.with))
			var refused *ParseError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, tt.line, refused.Line)
			assert.NotEmpty(t, refused.Reason)
			assert.Zero(t, got, "an error must come without values")
		})
	}
}

func TestParse_first_missing_line(t *testing.T) {
	t.Parallel()
	text := capture(t, "nb-3member-leader.txt")
	for _, line := range statusLines {
		if line.optional {
			continue
		}
		before, rest, _ := strings.Cut(text, "\n"+line.key)
		_, after, _ := strings.Cut(rest, "\n")
		_, err := Parse(before + "\n" + after)
		var refused *ParseError
		require.ErrorAs(t, err, &refused, line.key)
		if line.key != "Servers:" { // without it, rows are out of place
			assert.Contains(t, refused.Reason, line.key)
		}
	}

	whole := map[string]struct {
		text string
		line int
	}{
		"nothing":        {"", 1},
		"one line":       {"7d80\n", 0},
		"no servers":     {edit(t, text, "Servers:\n", "Server:\n"), 0},
		"larger than 1M": {strings.Repeat("x", maxText+1), 0},
	}
	for name, tt := range whole {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(tt.text)
			var refused *ParseError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, tt.line, refused.Line)
		})
	}
}

func TestParse_error_cuts_long_line(t *testing.T) {
	t.Parallel()
	text := edit(t, capture(t, "nb-3member-leader.txt"), "Term: 2", "Term: x"+strings.Repeat("é", 1000))
	_, err := Parse(text)
	var refused *ParseError
	require.ErrorAs(t, err, &refused)
	// 7 + 76*2 bytes: one more é would be cut in two at byte 160.
	assert.Equal(t, "Term: x"+strings.Repeat("é", 76)+"…", refused.Text)
}

func TestParse_keeps_unknown_lines(t *testing.T) {
	t.Parallel()
	text := capture(t, "nb-3member-leader.txt")
	known, err := Parse(text)
	require.NoError(t, err)

	tests := map[string]struct {
		before string // the line that follows the unknown lines
		lines  string
		want   []string
	}{
		"between two lines":       {"Role: leader", "Pre-vote: yes\n", []string{"Pre-vote: yes"}},
		"key like a known one":    {"Role: leader", "Leader ID: 7d80\n", []string{"Leader ID: 7d80"}},
		"a second empty line":     {"Last Election started", "\n", nil},
		"rows of another section": {"Servers:", "Learners:\n    at: tcp:a:1\n", []string{"Learners:", "    at: tcp:a:1"}},
		"a section below":         {"", "Clients:\n    12 now\n", []string{"Clients:", "    12 now"}},
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
			want := known
			want.Text, want.Unknown = extended, tt.want
			assert.Equal(t, want, got)
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
	extra := func(text string) Member { return with(func(m *Member) { m.Extra = text }) }
	const indexes, last = " next_index=6 match_index=5", " last msg 140 ms ago"
	tests := map[string]struct {
		rest string
		want Member
	}{
		"nothing":               {"", head},
		"unknown phase":         {" (observing)" + indexes, extra(" (observing)" + indexes)},
		"phase begins alike":    {" (removing: slow)", extra(" (removing: slow)")},
		"vote for an address":   {" (voted for tcp:a:1)", extra(" (voted for tcp:a:1)")},
		"index is not a number": {" next_index=6 match_index=?" + last, extra(" next_index=6 match_index=?" + last)},
		"index of 65 bits":      {" next_index=6 match_index=18446744073709551616", head},
		"time in seconds": {indexes + " last msg 140 s ago", with(func(m *Member) {
			m.Match, m.Extra = new(uint64(5)), " last msg 140 s ago"
		})},
		"time overflows": {indexes + " last msg 9223372036855 ms ago", with(func(m *Member) { m.Match = new(uint64(5)) })},
		"longest time":   {" last msg 9223372036854 ms ago", with(func(m *Member) { m.LastMsg = new(ms(9223372036854)) })},
		"all, and more": {" (removing)" + indexes + last + " lag=3", with(func(m *Member) {
			m.Phase, m.Match, m.LastMsg, m.Extra = RemovingPhase, new(uint64(5)), new(ms(140)), " lag=3"
		})},
		"another order": {last + indexes, with(func(m *Member) { m.LastMsg, m.Extra = new(ms(140)), indexes })},
	}
	text := capture(t, "nb-3member-leader.txt")
	for name, tt := range tests {
		got, err := Parse(edit(t, text, ":6643)"+indexes+last+"\n    7d80", ":6643)"+tt.rest+"\n    7d80"))
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, got.Servers[0], name)
		assert.Len(t, got.Servers, 3, name)
	}
}

func TestParse_older_servers_and_addresses(t *testing.T) {
	t.Parallel()
	text := capture(t, "nb-joining-learned-cid.txt")
	tests := map[string]struct{ old, with string }{
		"no Disconnections, before OVS 2.15": {"Disconnections: 0\n", ""},
		"several remotes": {
			"joining: tcp:127.77.7.1:6643", "joining: tcp:127.77.7.1:6643 ssl:[fd77::2]:6643",
		},
		"a host name":                      {"Address: tcp:127.77.7.4:6643", "Address: ssl:node-4.example:6643"},
		"a link-local address":             {"Address: tcp:127.77.7.4:6643", "Address: tcp:[fe80::1%eth0]:6643"},
		"a vote for a server that is gone": {"Vote: unknown", "Vote: 0000"},
		"the largest term":                 {"Term: 2", "Term: 18446744073709551615"},
	}
	for name, tt := range tests {
		got, err := Parse(edit(t, text, tt.old, tt.with))
		require.NoError(t, err, name)
		assert.Empty(t, got.Unknown, name)
	}
}
