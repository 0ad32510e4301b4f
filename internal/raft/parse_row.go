package raft

import (
	"errors"
	"fmt"
	"strings"
)

// rowIndent begins every row of "Servers:".
const rowIndent = "    "

// readServer reads "NICK (SHORT at ADDRESS)", the beginning of rows and pending changes, and leaves the rest.
func readServer(v string) (short, address, rest string, err error) {
	nick, v, _ := strings.Cut(v, " (")
	short, v, _ = strings.Cut(v, " at ")
	address, rest, ok := strings.Cut(v, ")")
	switch {
	case !ok || !IsIdentity(nick) || !IsIdentity(short):
		err = errors.New("not \"NICK (SHORT at ADDRESS)\"")
	case nick != short:
		err = fmt.Errorf("%q and %q are not the same server", nick, short)
	default:
		_, err = readAddress(address)
	}
	return short, address, rest, err
}

// readMember parses a row of "Servers:". The parts after the head are optional, in a fixed order; from the first
// unknown part on, the row goes into Extra.
func readMember(line string) (Member, error) {
	v, ok := strings.CutPrefix(line, rowIndent)
	if !ok {
		return Member{}, fmt.Errorf("not indented by %d spaces", len(rowIndent))
	}
	short, address, rest, err := readServer(v)
	if err != nil {
		return Member{}, err
	}
	m := Member{Short: short, Address: address}
	rest, m.Self = strings.CutPrefix(rest, " (self)")
	m.Phase, rest = cutPhase(rest)
	rest = m.cutVote(rest)
	rest = m.cutIndexes(rest)
	m.Extra = m.cutLastMsg(rest)
	return m, nil
}

// cutPhase accepts known phases only: the meaning of others must not be guessed.
func cutPhase(v string) (phase Phase, rest string) {
	if text, ok := strings.CutPrefix(v, " ("); ok {
		for _, known := range [...]Phase{AddingCatchup, AddingCaughtUp, AddingCommitting, RemovingPhase} {
			if after, ok := strings.CutPrefix(text, string(known)); ok && strings.HasPrefix(after, ")") {
				return known, after[1:]
			}
		}
	}
	return "", v
}

func (m *Member) cutVote(v string) (rest string) {
	text, ok := strings.CutPrefix(v, " (voted for ")
	nick, rest, closed := strings.Cut(text, ")")
	if !ok || !closed || !IsIdentity(nick) {
		return v
	}
	m.VotedFor = nick
	return rest
}

func (m *Member) cutIndexes(v string) (rest string) {
	text, ok := strings.CutPrefix(v, " next_index=")
	next, text, both := strings.Cut(text, " match_index=")
	if !ok || !both {
		return v
	}
	match, rest := text, ""
	if end := strings.IndexByte(text, ' '); end >= 0 {
		match, rest = text[:end], text[end:]
	}
	n, errNext := readNumber(next)
	i, errMatch := readNumber(match)
	if errNext != nil || errMatch != nil {
		return v
	}
	m.Next, m.Match = &n, &i
	return rest
}

func (m *Member) cutLastMsg(v string) (rest string) {
	text, ok := strings.CutPrefix(v, " last msg ")
	ms, rest, ago := strings.Cut(text, " ms ago")
	if !ok || !ago {
		return v
	}
	last, err := readMillis(ms)
	if err != nil {
		return v
	}
	m.LastMsg = &last
	return rest
}
