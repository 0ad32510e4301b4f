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
	require.Equal(t, 1, strings.Count(text, old), "%q must stand once", old)
	return strings.Replace(text, old, with, 1)
}

func TestParse_error_has_line_and_reason(t *testing.T) {
	t.Parallel()
	const (
		leader  = "nb-3member-leader.txt"
		changer = "nb-election-timer-changing.txt"
		joiner  = "nb-joining-learned-cid.txt"
		adder   = "nb-leader-adding-committing.txt"
	)
	tests := map[string]struct {
		file, old, with string
		line            int
	}{
		"first line is not hex":     {leader, "7d80\nName", "7D80\nName", 1},
		"first line is a reply":     {leader, "7d80\nName", "unknown cluster\nName", 1},
		"name of two words":         {leader, "OVN_Northbound", "OVN Northbound", 2},
		"name is empty":             {leader, "Name: OVN_Northbound", "Name:", 2},
		"cluster ID in upper case":  {leader, "f3b0 (f3b03511", "f3b0 (F3b03511", 3},
		"cluster ID of others":      {leader, "f3b0 (f3b0", "f3b1 (f3b0", 3},
		"cluster ID is cut":         {leader, "fbae1b4bf63f)", "fbae1b4bf63)", 3},
		"cluster ID without dashes": {leader, "e217-40a8", "e217040a8", 3},
		"server ID is not known":    {leader, "7d80 (7d8017e6-7fae-4d5c-b09d-c3301d930b5b)", "not yet known", 4},
		"server ID of another":      {leader, "7d80 (7d8017e6", "7d81 (7d8117e6", 4},
		"unix address":              {leader, "Address: tcp:127.77.1.1:6643", "Address: unix:s1.raft", 5},
		"address without port":      {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:127.77.1.1", 5},
		"address without host":      {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp::6643", 5},
		"address with port 65536":   {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:h:65536", 5},
		"IPv6 without brackets":     {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:fd77::1:6643", 5},
		"unknown_state":             {leader, "cluster member", "cluster", 6},
		"joining without a remote":  {joiner, " tcp:127.77.7.1:6643\nRole", "\nRole", 7},
		"remotes by comma":          {joiner, " tcp:127.77.7.1:6643\nRole", " tcp:a:1,tcp:b:2\nRole", 7},
		"pending without a phase":   {adder, " (adding: catchup)", "", 7},
		"pending without an ID":     {adder, "7c34 (7c34 at tcp", "7c34 (tcp", 7},
		"unknown_role":              {leader, "Role: leader", "Role: learner", 7},
		"term is a word":            {leader, "Term: 2", "Term: abc", 8},
		"term is negative":          {leader, "Term: 2", "Term: -2", 8},
		"term has leading zeros":    {leader, "Term: 2", "Term: 02", 8},
		"term has 65 bits":          {leader, "Term: 2", "Term: 18446744073709551616", 8},
		"term is empty":             {leader, "Term: 2", "Term:", 8},
		"term without its space":    {leader, "Term: 2", "Term:2", 8},
		"term with a space behind":  {leader, "Term: 2", "Term: 2 ", 8},
		"leader of three digits":    {leader, "Leader: self", "Leader: 7d8", 9},
		"empty_vote":                {leader, "Vote: self", "Vote:", 10},
		"election without a reason": {leader, ", reason: timeout", "", 12},
		"election of empty reason":  {leader, "reason: timeout", "reason: ", 12},
		"election in seconds":       {leader, "started 46979 ms", "started 46.979 ms", 12},
		"election won at no time":   {leader, "won: 46979 ms ago", "won: never", 13},
		"election won too long ago": {leader, "won: 46979 ms", "won: 9223372036855 ms", 13},
		"timer with a unit":         {leader, "timer: 1000", "timer: 1000 ms", 14},
		"timer overflows":           {leader, "timer: 1000", "timer: 18446744073709551615", 14},
		"timer does not change":     {changer, "changing to 2000", "stays", 14},
		"timer changes to a word":   {changer, "to 2000", "to x", 14},
		"timer changes to nothing":  {changer, "to 2000", "to 0", 14},
		"log without brackets":      {leader, "[2, 6]", "2, 6", 15},
		"log with one bound":        {leader, "[2, 6]", "[2]", 15},
		"log without a start":       {leader, "[2, 6]", "[, 6]", 15},
		"log without an end":        {leader, "[2, 6]", "[2, ]", 15},
		"log that ends too early":   {leader, "[2, 6]", "[6, 2]", 15},
		"not committed":             {leader, "committed: 0", "committed: none", 16},
		"not applied":               {leader, "applied: 0", "applied: none", 17},
		"connection without arrow":  {leader, " ->c14a", " c14a", 18},
		"connection half closed":    {leader, " ->c14a", " (->c14a", 18},
		"connection to an address":  {leader, " ->c14a", " ->127.0.0.1", 18},
		"connections by two spaces": {leader, " ->c14a", "  ->c14a", 18},
		"connections of one space":  {leader, " <-6e62 ->6e62 <-c14a ->c14a", " ", 18},
		"disconnections":            {leader, "Disconnections: 0", "Disconnections: no", 19},
		"servers on one line":       {leader, "Servers:", "Servers: 3", 20},
		"row without a server":      {leader, "    c14a (c14a at", "    (c14a at", 21},
		"row that is not closed":    {leader, ":6643) (self)", ":6643 (self", 22},
		"row of two servers":        {leader, "c14a (c14a at", "c14a (c14b at", 21},
		"row without an address":    {leader, "at tcp:127.77.1.3:6643", "at ", 21},
		"row with a small indent":   {leader, "    c14a", "   c14a", 21},
		"row with a big indent":     {leader, "    c14a", "     c14a", 21},
		"row of another section":    {leader, "    6e62", "Learners:\n    6e62", 24},
		"self at another's row": {
			leader, ":6643) next_index=6 match_index=5 last msg 140 ms ago\n    7d80", ":6643) (self)\n    7d80", 21,
		},
		"self twice": {
			leader, "    6e62 (6e62 at tcp:127.77.1.2:6643)", "    7d80 (7d80 at tcp:127.77.1.2:6643) (self)", 23,
		},
		"a line twice":           {leader, "Term: 2", "Term: 2\nTerm: 2", 9},
		"servers twice":          {leader, "    6e62", "Servers:\n    6e62", 23},
		"optional line twice":    {leader, "Disconnections: 0", "Disconnections: 0\nDisconnections: 0", 20},
		"optional line too late": {leader, "Term: 2", "Term: 2\nRemotes for joining: tcp:a:1", 9},
		"adding after removing": {
			adder, "Role: leader",
			"Removing server 05be (05be at tcp:127.77.16.3:6643) (removing)\nAdding server 05be (05be at " +
				"tcp:127.77.16.3:6643) (adding: catchup)\nRole: leader", 9,
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
	// After each name: the line found instead.
	tests := []struct{ missing, found string }{
		{"Name:", "Cluster ID: f3b0 (f3b03511-e217-40a8-8457-fbae1b4bf63f)"},
		{"Cluster ID:", "Server ID: 7d80 (7d8017e6-7fae-4d5c-b09d-c3301d930b5b)"},
		{"Server ID:", "Address: tcp:127.77.1.1:6643"},
		{"Address:", "Status: cluster member"},
		{"Status:", "Role: leader"},
		{"Role:", "Term: 2"},
		{"Term:", "Leader: self"},
		{"Leader:", "Vote: self"},
		{"Election timer:", "Log: [2, 6]"},
		{"Log:", "Entries not yet committed: 0"},
		{"Entries not yet committed:", "Entries not yet applied: 0"},
		{"Entries not yet applied:", "Connections: <-6e62 ->6e62 <-c14a ->c14a"},
		{"Connections:", "Disconnections: 0"},
	}
	text := capture(t, "nb-3member-leader.txt")
	for _, tt := range tests {
		t.Run(tt.missing, func(t *testing.T) {
			t.Parallel()
			before, rest, _ := strings.Cut(text, "\n"+tt.missing)
			_, after, _ := strings.Cut(rest, "\n")
			_, err := Parse(before + "\n" + after)
			var refused *ParseError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, tt.found, refused.Text)
			assert.Contains(t, refused.Reason, tt.missing)
		})
	}

	whole := map[string]struct {
		text string
		line int
	}{
		"nothing":        {"", 1},
		"one line":       {"7d80\n", 0},
		"no vote":        {edit(t, text, "Vote: self\n", ""), 11},
		"no empty line":  {edit(t, text, "Vote: self\n\n", "Vote: self\n"), 11},
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
		before string // the unknown lines are before this
		lines  string
		want   []Unknown
	}{
		"between two lines":    {"Role: leader", "Pre-vote: yes\n", []Unknown{{7, "Pre-vote: yes"}}},
		"key like a known one": {"Role: leader", "Leader ID: 7d80\n", []Unknown{{7, "Leader ID: 7d80"}}},
		"a second empty line":  {"Last Election started", "\n", []Unknown{{12, ""}}},
		"an early empty line":  {"Term: 2", "\n", []Unknown{{8, ""}}},
		"rows of another section": {
			"Servers:", "Learners:\n    abcd (abcd at tcp:a:1)\n",
			[]Unknown{{20, "Learners:"}, {21, "    abcd (abcd at tcp:a:1)"}},
		},
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
		"a phase that is never printed": {" (stable)", with(func(m *Member) { m.Extra = " (stable)" })},
		"a vote for an address": {
			" (voted for tcp:a:1)", with(func(m *Member) { m.Extra = " (voted for tcp:a:1)" }),
		},
		"an index that is no number": {
			" next_index=6 match_index=?" + last, with(func(m *Member) { m.Extra = " next_index=6 match_index=?" + last }),
		},
		"a next index that is no number": {
			" next_index=? match_index=5" + last, with(func(m *Member) { m.Extra = " next_index=? match_index=5" + last }),
		},
		"one index of two": {
			" next_index=6" + last, with(func(m *Member) { m.Extra = " next_index=6" + last }),
		},
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
		"several remotes": {
			"joining: tcp:127.77.7.1:6643", "joining: tcp:127.77.7.1:6643 ssl:[fd77::2]:6643",
		},
		"a host name":                      {"Address: tcp:127.77.7.4:6643", "Address: ssl:node-4.example:6643"},
		"a link-local address":             {"Address: tcp:127.77.7.4:6643", "Address: tcp:[fe80::1%eth0]:6643"},
		"a vote for a server that is gone": {"Vote: unknown", "Vote: 0000"},
		"the largest term":                 {"Term: 2", "Term: 18446744073709551615"},
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
