package raft

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// String is the text that ovsdb-server prints for such a status, ending in a newline. Lines of s.Unknown are at their
// numbers. Times are printed in whole milliseconds.
func (s Status) String() string {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	line("%s", s.Nick)
	line("Name: %s", s.Name)
	if s.Cluster != nil {
		line("Cluster ID: %s (%s)", s.Cluster.Short(), *s.Cluster)
	} else {
		line("Cluster ID: %s", clusterUnknown)
	}
	line("Server ID: %s (%s)", s.Server.Short(), s.Server)
	line("Address: %s", s.Address)
	line("Status: %s", s.State)
	if len(s.Remotes) > 0 {
		line("Remotes for joining: %s", strings.Join(s.Remotes, " "))
	}
	for _, a := range s.Adding {
		line("Adding server %s", renderPending(a))
	}
	for _, r := range s.Removing {
		line("Removing server %s", renderPending(r))
	}
	line("Role: %s", s.Role)
	line("Term: %d", s.Term)
	line("Leader: %s", s.Leader)
	line("Vote: %s", s.Vote)
	line("")
	if e := s.Election; e != nil {
		line("Last Election started %s, reason: %s", renderAgo(e.Ago), e.Reason)
	}
	if s.Won != nil {
		line("Last Election won: %s", renderAgo(*s.Won))
	}
	if s.ChangingTo != 0 {
		line("Election timer: %d (changing to %d)", s.ElectionTimer.Milliseconds(), s.ChangingTo.Milliseconds())
	} else {
		line("Election timer: %d", s.ElectionTimer.Milliseconds())
	}
	line("Log: [%d, %d]", s.Log.Start, s.Log.End)
	line("Entries not yet committed: %d", s.NotCommitted)
	line("Entries not yet applied: %d", s.NotApplied)
	line("Connections:%s", renderConnections(s.Connections))
	if s.Disconnections != nil {
		line("Disconnections: %d", *s.Disconnections)
	}
	line("Servers:")
	for _, m := range s.Servers {
		line("%s", renderMember(m))
	}
	for _, u := range s.Unknown {
		lines = slices.Insert(lines, min(u.Line-1, len(lines)), u.Text)
	}
	return strings.Join(lines, "\n") + "\n"
}

func renderPending(p Pending) string {
	return renderServer(p.Short, p.Address) + renderPhase(p.Phase) + p.Extra
}

func renderConnections(connections []Connection) string {
	var b strings.Builder
	for _, c := range connections {
		arrow := "->"
		if c.Incoming {
			arrow = "<-"
		}
		item := " %s%s"
		if !c.Up {
			item = " (%s%s)"
		}
		fmt.Fprintf(&b, item, arrow, c.Peer)
	}
	return b.String()
}

func renderMember(m Member) string {
	var b strings.Builder
	b.WriteString(rowIndent + renderServer(m.Short, m.Address))
	if m.Self {
		b.WriteString(" (self)")
	}
	b.WriteString(renderPhase(m.Phase))
	if m.VotedFor != "" {
		fmt.Fprintf(&b, " (voted for %s)", m.VotedFor)
	}
	if m.Next != nil && m.Match != nil {
		fmt.Fprintf(&b, " next_index=%d match_index=%d", *m.Next, *m.Match)
	}
	if m.LastMsg != nil {
		fmt.Fprintf(&b, " last msg %s", renderAgo(*m.LastMsg))
	}
	b.WriteString(m.Extra)
	return b.String()
}

func renderServer(short, address string) string {
	return fmt.Sprintf("%s (%s at %s)", short, short, address)
}

func renderPhase(p Phase) string {
	if p == "" {
		return ""
	}
	return " (" + string(p) + ")"
}

func renderAgo(d time.Duration) string { return fmt.Sprintf("%d ms ago", d.Milliseconds()) }
