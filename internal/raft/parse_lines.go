package raft

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// statusLine is one kind of line: its beginning and the parser of the rest.
type statusLine struct {
	key string
	// optional reports whether the line is missing in some states.
	optional bool
	// many reports whether the line may be repeated.
	many bool
	read func(s *Status, value string) error
}

// statusLines are the lines whose values are used, in the order in which raft_unixctl_status() in ovsdb/raft.c of OVS
// 2.16 to 3.6 prints them.
var statusLines = []statusLine{
	{key: "Name:", read: func(s *Status, v string) error { return into(&s.Name, v, readWord) }},
	{key: "Cluster ID:", read: readCluster},
	{key: "Server ID:", read: func(s *Status, v string) error { return into(&s.Server, v, readID) }},
	{key: "Address:", read: func(s *Status, v string) error { return into(&s.Address, v, readAddress) }},
	{key: "Status:", read: func(s *Status, v string) (err error) {
		s.State, err = readOneOf(v, ClusterMember, JoiningCluster, LeavingCluster, LeftCluster, Failed, Disconnected)
		return err
	}},
	{key: "Remotes for joining:", optional: true, read: func(s *Status, v string) error {
		return readList(&s.Remotes, v, readAddress)
	}},
	{key: "Removing server ", optional: true, many: true, read: func(s *Status, v string) error {
		m, err := readMember(rowIndent + v)
		m.Phase = RemovingPhase
		s.Removing = append(s.Removing, m)
		return err
	}},
	{key: "Role:", read: func(s *Status, v string) (err error) {
		s.Role, err = readOneOf(v, Leader, Candidate, Follower)
		return err
	}},
	{key: "Term:", read: func(s *Status, v string) error { return into(&s.Term, v, readNumber) }},
	{key: "Leader:", read: func(s *Status, v string) error { return into(&s.Leader, v, readRef) }},
	{key: "Vote:", read: func(s *Status, v string) error { return into(&s.Vote, v, readRef) }},
	{key: "Election timer:", read: readElectionTimer},
	{key: "Log:", read: readLog},
	{key: "Entries not yet committed:", read: func(s *Status, v string) error {
		return into(&s.NotCommitted, v, readNumber)
	}},
	{key: "Entries not yet applied:", read: func(s *Status, v string) error {
		return into(&s.NotApplied, v, readNumber)
	}},
	{key: "Connections:", read: func(s *Status, v string) error {
		if v == "" {
			return nil
		}
		return readList(&s.Connections, v, readConnection)
	}},
	{key: "Servers:", read: func(_ *Status, v string) error {
		if v != "" {
			return errors.New("followed by something on the same line")
		}
		return nil
	}},
}

// unusedLines are the beginnings of lines whose values are not used.
var unusedLines = []string{"Adding server ", "Last Election started ", "Last Election won:", "Disconnections:"}

func into[T any](field *T, v string, read func(string) (T, error)) (err error) {
	*field, err = read(v)
	return err
}

func readCluster(s *Status, v string) error {
	if v == clusterUnknown {
		return nil
	}
	return into(&s.Cluster, v, readID)
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

// rowForm matches the beginning of a row. It accepts known phases only: the meaning of others must not be guessed.
var rowForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + rowIndent + `(?<nick>\S+) \((?<short>\S+) at (?<address>[^)]*)\)` +
		`(?<self> \(self\))?` +
		`(?: \((?<phase>adding: catchup|adding: caught up|adding: committing|removing)\))?` +
		`(?: \(voted for [0-9a-f]{4}\))?` +
		`(?: next_index=\d+ match_index=(?<match>\d+))?` +
		`(?: last msg (?<ago>\d+) ms ago)?`)
})

// readMember reads a row. Values that are missing or too large stay nil.
func readMember(line string) (Member, error) {
	found := rowForm().FindStringSubmatch(line)
	if found == nil {
		return Member{}, errors.New("not \"    NICK (SHORT at ADDRESS)\"")
	}
	part := func(name string) string { return found[rowForm().SubexpIndex(name)] }
	m := Member{
		Short: part("short"), Address: part("address"), Self: part("self") != "", Phase: Phase(part("phase")),
		Extra: line[len(found[0]):],
	}
	if part("nick") != m.Short || !IsIdentity(m.Short) {
		return Member{}, fmt.Errorf("%q and %q are not the four hex digits of one server", part("nick"), m.Short)
	}
	if _, err := readAddress(m.Address); err != nil {
		return Member{}, err
	}
	if match, err := readNumber(part("match")); err == nil {
		m.Match = &match
	}
	if ago, err := readMillis(part("ago")); err == nil {
		m.LastMsg = &ago
	}
	return m, nil
}
