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
	tests := map[string]struct{ file, old, with, want string }{
		"first line is not hex":     {leader, "7d80\nName", "7D80\nName", `line 1 "7D80": not the four hex digits of a server: the text is truncated or foreign`},
		"first line is a reply":     {leader, "7d80\nName", "unknown cluster\nName", `line 1 "unknown cluster": not the four hex digits of a server: the text is truncated or foreign`},
		"name of two words":         {leader, "OVN_Northbound", "OVN Northbound", `line 2 "Name: OVN Northbound": not one word`},
		"name is empty":             {leader, "Name: OVN_Northbound", "Name:", `line 2 "Name:": not one word`},
		"cluster ID in upper case":  {leader, "f3b0 (f3b03511", "f3b0 (F3b03511", `line 3 "Cluster ID: f3b0 (F3b03511-e217-40a8-8457-fbae1b4bf63f)": not "XXXX (UUID)" in lower-case hex digits`},
		"cluster ID of others":      {leader, "f3b0 (f3b0", "f3b1 (f3b0", `line 3 "Cluster ID: f3b1 (f3b03511-e217-40a8-8457-fbae1b4bf63f)": the UUID does not begin with the four digits before it`},
		"cluster ID is cut":         {leader, "fbae1b4bf63f)", "fbae1b4bf63)", `line 3 "Cluster ID: f3b0 (f3b03511-e217-40a8-8457-fbae1b4bf63)": not "XXXX (UUID)" in lower-case hex digits`},
		"cluster ID without dashes": {leader, "e217-40a8", "e217040a8", `line 3 "Cluster ID: f3b0 (f3b03511-e217040a8-8457-fbae1b4bf63f)": not "XXXX (UUID)" in lower-case hex digits`},
		"server ID is not known":    {leader, "7d80 (7d8017e6-7fae-4d5c-b09d-c3301d930b5b)", "not yet known", `line 4 "Server ID: not yet known": not "XXXX (UUID)" in lower-case hex digits`},
		"server ID of another":      {leader, "7d80 (7d8017e6", "7d81 (7d8117e6", `line 4 "Server ID: 7d81 (7d8117e6-7fae-4d5c-b09d-c3301d930b5b)": does not begin with the digits of the first line, "7d80"`},
		"unix address":              {leader, "Address: tcp:127.77.1.1:6643", "Address: unix:s1.raft", `line 5 "Address: unix:s1.raft": "unix:s1.raft" is not a "tcp:" or "ssl:" address`},
		"address without port":      {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:127.77.1.1", `line 5 "Address: tcp:127.77.1.1": "tcp:127.77.1.1" is not PROTO:HOST:PORT`},
		"address without host":      {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp::6643", `line 5 "Address: tcp::6643": "tcp::6643" is not PROTO:HOST:PORT`},
		"address with port 65536":   {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:h:65536", `line 5 "Address: tcp:h:65536": "tcp:h:65536" is not PROTO:HOST:PORT`},
		"IPv6 without brackets":     {leader, "Address: tcp:127.77.1.1:6643", "Address: tcp:fd77::1:6643", `line 5 "Address: tcp:fd77::1:6643": "tcp:fd77::1:6643" is not PROTO:HOST:PORT`},
		"unknown_state":             {leader, "cluster member", "cluster", `line 6 "Status: cluster": not a value that is known`},
		"joining without a remote":  {joiner, " tcp:127.77.7.1:6643\nRole", "\nRole", `line 7 "Remotes for joining:": "" is not a "tcp:" or "ssl:" address`},
		"remotes by comma":          {joiner, " tcp:127.77.7.1:6643\nRole", " tcp:a:1,tcp:b:2\nRole", `line 7 "Remotes for joining: tcp:a:1,tcp:b:2": "tcp:a:1,tcp:b:2" is not PROTO:HOST:PORT`},
		"pending without a phase":   {adder, " (adding: catchup)", "", `line 7 "Adding server 7c34 (7c34 at tcp:127.77.16.5:6643)": no phase`},
		"pending without an ID":     {adder, "7c34 (7c34 at tcp", "7c34 (tcp", `line 7 "Adding server 7c34 (tcp:127.77.16.5:6643) (adding: catchup)": not "NICK (SHORT at ADDRESS)"`},
		"unknown_role":              {leader, "Role: leader", "Role: learner", `line 7 "Role: learner": not a value that is known`},
		"term is a word":            {leader, "Term: 2", "Term: abc", `line 8 "Term: abc": not a number`},
		"term is negative":          {leader, "Term: 2", "Term: -2", `line 8 "Term: -2": not a number`},
		"term has leading zeros":    {leader, "Term: 2", "Term: 02", `line 8 "Term: 02": not a number`},
		"term has 65 bits":          {leader, "Term: 2", "Term: 18446744073709551616", `line 8 "Term: 18446744073709551616": a number above 64 bits`},
		"term is empty":             {leader, "Term: 2", "Term:", `line 8 "Term:": not a number`},
		"term without its space":    {leader, "Term: 2", "Term:2", `line 8 "Term:2": no value after one space`},
		"term with a space behind":  {leader, "Term: 2", "Term: 2 ", `line 8 "Term: 2 ": not a number`},
		"leader of three digits":    {leader, "Leader: self", "Leader: 7d8", `line 9 "Leader: 7d8": not "self", "unknown" or four hex digits`},
		"empty_vote":                {leader, "Vote: self", "Vote:", `line 10 "Vote:": not "self", "unknown" or four hex digits`},
		"election without a reason": {leader, ", reason: timeout", "", `line 12 "Last Election started 46979 ms ago": not "N ms ago, reason: REASON"`},
		"election of empty reason":  {leader, "reason: timeout", "reason: ", `line 12 "Last Election started 46979 ms ago, reason: ": not "N ms ago, reason: REASON"`},
		"election in seconds":       {leader, "started 46979 ms", "started 46.979 ms", `line 12 "Last Election started 46.979 ms ago, reason: timeout": not a number`},
		"election won at no time":   {leader, "won: 46979 ms ago", "won: never", `line 13 "Last Election won: never": not "N ms ago"`},
		"election won too long ago": {leader, "won: 46979 ms", "won: 9223372036855 ms", `line 13 "Last Election won: 9223372036855 ms ago": more milliseconds than a duration holds`},
		"timer with a unit":         {leader, "timer: 1000", "timer: 1000 ms", `line 14 "Election timer: 1000 ms": not a number`},
		"timer overflows":           {leader, "timer: 1000", "timer: 18446744073709551615", `line 14 "Election timer: 18446744073709551615": more milliseconds than a duration holds`},
		"timer does not change":     {changer, "changing to 2000", "stays", `line 14 "Election timer: 1000 (stays)": not "N (changing to N)"`},
		"timer changes to a word":   {changer, "to 2000", "to x", `line 14 "Election timer: 1000 (changing to x)": not a number`},
		"timer changes to nothing":  {changer, "to 2000", "to 0", `line 14 "Election timer: 1000 (changing to 0)": changing to 0`},
		"log without brackets":      {leader, "[2, 6]", "2, 6", `line 15 "Log: 2, 6": not "[START, END]"`},
		"log with one bound":        {leader, "[2, 6]", "[2]", `line 15 "Log: [2]": not "[START, END]"`},
		"log without a start":       {leader, "[2, 6]", "[, 6]", `line 15 "Log: [, 6]": not a number`},
		"log without an end":        {leader, "[2, 6]", "[2, ]", `line 15 "Log: [2, ]": not a number`},
		"log that ends too early":   {leader, "[2, 6]", "[6, 2]", `line 15 "Log: [6, 2]": ends before its start`},
		"not committed":             {leader, "committed: 0", "committed: none", `line 16 "Entries not yet committed: none": not a number`},
		"not applied":               {leader, "applied: 0", "applied: none", `line 17 "Entries not yet applied: none": not a number`},
		"connection without arrow":  {leader, " ->c14a", " c14a", `line 18 "Connections: <-6e62 ->6e62 <-c14a c14a": "c14a" is not a connection`},
		"connection half closed":    {leader, " ->c14a", " (->c14a", `line 18 "Connections: <-6e62 ->6e62 <-c14a (->c14a": "(->c14a" is not a connection`},
		"connection to an address":  {leader, " ->c14a", " ->127.0.0.1", `line 18 "Connections: <-6e62 ->6e62 <-c14a ->127.0.0.1": "->127.0.0.1" is not a connection`},
		"connections by two spaces": {leader, " ->c14a", "  ->c14a", `line 18 "Connections: <-6e62 ->6e62 <-c14a  ->c14a": "" is not a connection`},
		"connections of one space":  {leader, " <-6e62 ->6e62 <-c14a ->c14a", " ", `line 18 "Connections: ": no value after one space`},
		"disconnections":            {leader, "Disconnections: 0", "Disconnections: no", `line 19 "Disconnections: no": not a number`},
		"servers on one line":       {leader, "Servers:", "Servers: 3", `line 20 "Servers: 3": followed by something on the same line`},
		"row without a server":      {leader, "    c14a (c14a at", "    (c14a at", `line 21 "    (c14a at tcp:127.77.1.3:6643) next_index=6 match_index=5 last msg 140 ms ago": not "NICK (SHORT at ADDRESS)"`},
		"row that is not closed":    {leader, ":6643) (self)", ":6643 (self", `line 22 "    7d80 (7d80 at tcp:127.77.1.1:6643 (self next_index=3 match_index=5": not "NICK (SHORT at ADDRESS)"`},
		"row of two servers":        {leader, "c14a (c14a at", "c14a (c14b at", `line 21 "    c14a (c14b at tcp:127.77.1.3:6643) next_index=6 match_index=5 last msg 140 ms ago": "c14a" and "c14b" are not the same server`},
		"row without an address":    {leader, "at tcp:127.77.1.3:6643", "at ", `line 21 "    c14a (c14a at ) next_index=6 match_index=5 last msg 140 ms ago": "" is not a "tcp:" or "ssl:" address`},
		"row with a small indent":   {leader, "    c14a", "   c14a", `line 21 "   c14a (c14a at tcp:127.77.1.3:6643) next_index=6 match_index=5 last msg 140 ms ago": not indented by 4 spaces`},
		"row with a big indent":     {leader, "    c14a", "     c14a", `line 21 "     c14a (c14a at tcp:127.77.1.3:6643) next_index=6 match_index=5 last msg 140 ms ago": not "NICK (SHORT at ADDRESS)"`},
		"row of another section":    {leader, "    6e62", "Learners:\n    6e62", `line 24 "    6e62 (6e62 at tcp:127.77.1.2:6643) next_index=6 match_index=5 last msg 140 ms ago": a member's row that is not directly below "Servers:"`},
		"self at another's row":     {leader, ":6643) next_index=6 match_index=5 last msg 140 ms ago\n    7d80", ":6643) (self)\n    7d80", `line 21 "    c14a (c14a at tcp:127.77.1.3:6643) (self)": "(self)" is not at the row of the server that was asked`},
		"self twice":                {leader, "    6e62 (6e62 at tcp:127.77.1.2:6643)", "    7d80 (7d80 at tcp:127.77.1.2:6643) (self)", `line 23 "    7d80 (7d80 at tcp:127.77.1.2:6643) (self) next_index=6 match_index=5 last msg 140 ms ago": duplicate "(self)"`},
		"a line twice":              {leader, "Term: 2", "Term: 2\nTerm: 2", `line 9 "Term: 2": duplicate line`},
		"servers twice":             {leader, "    6e62", "Servers:\n    6e62", `line 23 "Servers:": duplicate line`},
		"optional line twice":       {leader, "Disconnections: 0", "Disconnections: 0\nDisconnections: 0", `line 20 "Disconnections: 0": duplicate line`},
		"optional line too late":    {leader, "Term: 2", "Term: 2\nRemotes for joining: tcp:a:1", `line 9 "Remotes for joining: tcp:a:1": out of order`},
		"adding after removing":     {adder, "Role: leader", "Removing server 05be (05be at tcp:127.77.16.3:6643) (removing)\nAdding server 05be (05be at tcp:127.77.16.3:6643) (adding: catchup)\nRole: leader", `line 9 "Adding server 05be (05be at tcp:127.77.16.3:6643) (adding: catchup)": out of order`},
		"CRLF":                      {leader, "7d80\nName", "7d80\r\nName", `line 1 "7d80\r": holds a control character: the text is foreign`},
		"terminal escape":           {leader, "Role: leader", "\x1b[2JRole: leader", `line 7 "\x1b[2JRole: leader": holds a control character: the text is foreign`},
		"delete character":          {leader, "(self)", "(self)\x7f", `line 22 "    7d80 (7d80 at tcp:127.77.1.1:6643) (self)\x7f next_index=3 match_index=5": holds a control character: the text is foreign`},
		"tab before a row":          {leader, "    c14a", "\tc14a", `line 21 "\tc14a (c14a at tcp:127.77.1.3:6643) next_index=6 match_index=5 last msg 140 ms ago": holds a control character: the text is foreign`},
		"invalid UTF-8":             {leader, "Role: leader", "Role: \xff", `the text is not UTF-8: it is foreign`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(edit(t, capture(t, tt.file), tt.old, tt.with))
			var refused *ParseError
			require.ErrorAs(t, err, &refused)
			assert.EqualError(t, err, "cannot read cluster/status: "+tt.want)
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
			assert.Equal(t, `"`+tt.missing+`" is missing before it: the text is truncated or foreign`, refused.Reason)
		})
	}

	whole := map[string]struct{ text, want string }{
		"nothing":        {"", `line 1 "": not the four hex digits of a server: the text is truncated or foreign`},
		"one line":       {"7d80\n", `"Name:" is missing: the text is truncated or foreign`},
		"no vote":        {edit(t, text, "Vote: self\n", ""), `line 11 "Last Election started 46979 ms ago, reason: timeout": "Vote:" is missing before it: the text is truncated or foreign`},
		"no empty line":  {edit(t, text, "Vote: self\n\n", "Vote: self\n"), `line 11 "Last Election started 46979 ms ago, reason: timeout": the empty line after "Vote:" is missing before it: the text is truncated or foreign`},
		"no servers":     {edit(t, text, "Servers:\n", "Server:\n"), `"Servers:" is missing: the text is truncated or foreign`},
		"larger than 1M": {strings.Repeat("x", maxText+1), `the text has 1048577 bytes, more than 1048576`},
	}
	for name, tt := range whole {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(tt.text)
			assert.EqualError(t, err, "cannot read cluster/status: "+tt.want)
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
