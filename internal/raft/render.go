package raft

import (
	"fmt"
	"strings"
	"time"
)

// String is the text that ovsdb-server prints for such a status, ending in a newline. Lines of s.Unknown are at their
// numbers. Times are printed in whole milliseconds.
func (s Status) String() string {
	p := printer{unknown: s.Unknown}
	p.line("%s", s.Nick)
	p.line("Name: %s", s.Name)
	if s.Cluster != nil {
		p.line("Cluster ID: %s (%s)", s.Cluster.Short(), *s.Cluster)
	} else {
		p.line("Cluster ID: %s", clusterUnknown)
	}
	p.line("Server ID: %s (%s)", s.Server.Short(), s.Server)
	p.line("Address: %s", s.Address)
	p.line("Status: %s", s.State)
	if len(s.Remotes) > 0 {
		p.line("Remotes for joining: %s", strings.Join(s.Remotes, " "))
	}
	for _, a := range s.Adding {
		p.line("Adding server %s", renderPending(a))
	}
	for _, r := range s.Removing {
		p.line("Removing server %s", renderPending(r))
	}
	p.line("Role: %s", s.Role)
	p.line("Term: %d", s.Term)
	p.line("Leader: %s", s.Leader)
	p.line("Vote: %s", s.Vote)
	p.line("")
	if e := s.Election; e != nil {
		p.line("Last Election started %s, reason: %s", renderAgo(e.Ago), e.Reason)
	}
	if s.Won != nil {
		p.line("Last Election won: %s", renderAgo(*s.Won))
	}
	if s.ChangingTo != 0 {
		p.line("Election timer: %d (changing to %d)", s.ElectionTimer.Milliseconds(), s.ChangingTo.Milliseconds())
	} else {
		p.line("Election timer: %d", s.ElectionTimer.Milliseconds())
	}
	p.line("Log: [%d, %d]", s.Log.Start, s.Log.End)
	p.line("Entries not yet committed: %d", s.NotCommitted)
	p.line("Entries not yet applied: %d", s.NotApplied)
	p.line("Connections:%s", renderConnections(s.Connections))
	if s.Disconnections != nil {
		p.line("Disconnections: %d", *s.Disconnections)
	}
	p.line("Servers:")
	for _, m := range s.Servers {
		p.line("%s", renderMember(m))
	}
	return p.end()
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

// printer writes lines and inserts the unknown ones at their numbers.
type printer struct {
	text    strings.Builder
	written int
	unknown []Unknown
}

func (p *printer) line(format string, args ...any) {
	for len(p.unknown) > 0 && p.unknown[0].Line <= p.written+1 {
		p.putBack()
	}
	fmt.Fprintf(&p.text, format+"\n", args...)
	p.written++
}

func (p *printer) putBack() {
	p.text.WriteString(p.unknown[0].Text + "\n")
	p.unknown, p.written = p.unknown[1:], p.written+1
}

// end adds the unknown lines below the last row.
func (p *printer) end() string {
	for len(p.unknown) > 0 {
		p.putBack()
	}
	return p.text.String()
}
