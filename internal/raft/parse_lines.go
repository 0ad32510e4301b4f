package raft

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// statusLine is one kind of line: its beginning and the parser of the rest.
type statusLine struct {
	// key is the line's beginning; that of the empty line is empty.
	key string
	// always: every version prints it in every state.
	always bool
	// many: it may be repeated.
	many bool
	read func(s *Status, value string) error
}

// statusLines are the lines after the first one, in the order in which
// raft_unixctl_status() in ovsdb/raft.c prints them, OVS 2.16 to 3.6.
var statusLines = []statusLine{
	{key: "Name:", always: true, read: func(s *Status, v string) error { return into(&s.Name, v, readWord) }},
	{key: "Cluster ID:", always: true, read: readCluster},
	{key: "Server ID:", always: true, read: func(s *Status, v string) (err error) {
		if s.Server, err = readID(v); err == nil && s.Server.Short() != s.Nick {
			err = fmt.Errorf("does not begin with the digits of the first line, %q", s.Nick)
		}
		return err
	}},
	{key: "Address:", always: true, read: func(s *Status, v string) error { return into(&s.Address, v, readAddress) }},
	{key: "Status:", always: true, read: func(s *Status, v string) (err error) {
		s.State, err = readOneOf(v, ClusterMember, JoiningCluster, LeavingCluster, LeftCluster, Failed, Disconnected)
		return err
	}},
	{key: "Remotes for joining:", read: func(s *Status, v string) error { return readList(&s.Remotes, v, readAddress) }},
	{key: "Adding server ", many: true, read: func(s *Status, v string) error { return readPending(&s.Adding, v) }},
	{key: "Removing server ", many: true, read: func(s *Status, v string) error { return readPending(&s.Removing, v) }},
	{key: "Role:", always: true, read: func(s *Status, v string) (err error) {
		s.Role, err = readOneOf(v, Leader, Candidate, Follower)
		return err
	}},
	{key: "Term:", always: true, read: func(s *Status, v string) error { return into(&s.Term, v, readNumber) }},
	{key: "Leader:", always: true, read: func(s *Status, v string) error { return into(&s.Leader, v, readRef) }},
	{key: "Vote:", always: true, read: func(s *Status, v string) error { return into(&s.Vote, v, readRef) }},
	{key: "", always: true, read: func(*Status, string) error { return nil }},
	{key: "Last Election started ", read: readElection},
	{key: "Last Election won:", read: func(s *Status, v string) error {
		s.Won = new(time.Duration)
		return into(s.Won, v, readAgo)
	}},
	{key: "Election timer:", always: true, read: readElectionTimer},
	{key: "Log:", always: true, read: readLog},
	{key: "Entries not yet committed:", always: true, read: func(s *Status, v string) error {
		return into(&s.NotCommitted, v, readNumber)
	}},
	{key: "Entries not yet applied:", always: true, read: func(s *Status, v string) error {
		return into(&s.NotApplied, v, readNumber)
	}},
	{key: "Connections:", always: true, read: func(s *Status, v string) error {
		if v == "" {
			return nil
		}
		return readList(&s.Connections, v, readConnection)
	}},
	{key: "Disconnections:", read: func(s *Status, v string) error {
		s.Disconnections = new(uint64)
		return into(s.Disconnections, v, readNumber)
	}},
	{key: "Servers:", always: true, read: func(_ *Status, v string) error {
		if v != "" {
			return errors.New("followed by something on the same line")
		}
		return nil
	}},
}

func into[T any](field *T, v string, read func(string) (T, error)) (err error) {
	*field, err = read(v)
	return err
}

// value is the text after the key: after a colon either nothing, or one space and something.
func (f *statusLine) value(rest string) (string, error) {
	if rest == "" || !strings.HasSuffix(f.key, ":") {
		return rest, nil
	}
	v, ok := strings.CutPrefix(rest, " ")
	if !ok || v == "" {
		return "", errors.New("no value after one space")
	}
	return v, nil
}

func readCluster(s *Status, v string) error {
	if v == clusterUnknown {
		return nil
	}
	id, err := readID(v)
	s.Cluster = &id
	return err
}

// readList reads items that are separated by one space.
func readList[T any](to *[]T, v string, read func(string) (T, error)) error {
	for item := range strings.SplitSeq(v, " ") {
		value, err := read(item)
		if err != nil {
			return err
		}
		*to = append(*to, value)
	}
	return nil
}

func readPending(to *[]Pending, v string) error {
	short, address, rest, err := readServer(v)
	if err != nil {
		return err
	}
	if rest == "" {
		return errors.New("no phase")
	}
	p := Pending{Short: short, Address: address}
	p.Phase, p.Extra = cutPhase(rest)
	*to = append(*to, p)
	return nil
}

func readElection(s *Status, v string) error {
	ms, reason, ok := strings.Cut(v, " ms ago, reason: ")
	if !ok || reason == "" {
		return errors.New("not \"N ms ago, reason: REASON\"")
	}
	ago, err := readMillis(ms)
	s.Election = &Election{Ago: ago, Reason: reason}
	return err
}

func readElectionTimer(s *Status, v string) (err error) {
	ms, change, changing := strings.Cut(v, " (")
	if s.ElectionTimer, err = readMillis(ms); err != nil || !changing {
		return err
	}
	ms, ok := cutAround(change, "changing to ", ")")
	if !ok {
		return errors.New("not \"N (changing to N)\"")
	}
	if s.ChangingTo, err = readMillis(ms); err == nil && s.ChangingTo == 0 {
		err = errors.New("changing to 0")
	}
	return err
}

func readLog(s *Status, v string) (err error) {
	bounds, inside := cutAround(v, "[", "]")
	start, end, ok := strings.Cut(bounds, ", ")
	if !inside || !ok {
		return errors.New("not \"[START, END]\"")
	}
	if s.Log.Start, err = readNumber(start); err != nil {
		return err
	}
	if s.Log.End, err = readNumber(end); err == nil && s.Log.End < s.Log.Start {
		err = errors.New("ends before its start")
	}
	return err
}

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
