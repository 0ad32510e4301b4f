package raft

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxText limits the text that [Parse] reads, in bytes. A status of five members has about 1200, and every further
// member adds about 120.
const maxText = 1 << 20

// maxQuoted limits the part of a line that a [ParseError] repeats, in bytes.
const maxQuoted = 160

// ParseError is a line that ovsdb-server does not print. It is the only type of error that [Parse] returns.
type ParseError struct {
	// Line counts from 1; 0 for an error of the whole text.
	Line int
	// Text is the line, or its beginning.
	Text string
	// Reason is the problem, in lower case.
	Reason string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return "cannot read cluster/status: " + e.Reason
	}
	return fmt.Sprintf("cannot read cluster/status: line %d %q: %s", e.Line, e.Text, e.Reason)
}

// Parse parses the text of `cluster/status`. It is strict: lines that are always printed must all be present, in their
// order; a known line must be correct to the last character; an unknown line is kept in [Status.Unknown], and the
// unknown end of a member's row in [Member.Extra]. So [Status.String] reproduces an accepted text byte for byte, apart
// from a missing final newline.
//
// It can't detect a text that was cut off below "Servers:". Then the first members are correct and the others missing;
// the last one may lack values, or have a smaller match_index. The caller must make sure that the text is complete.
//
// Texts above 1 MiB are refused, and those of servers with "unix:" addresses, whose nicknames are file names. The error
// is always a [*ParseError].
func Parse(text string) (Status, error) {
	if len(text) > maxText {
		return Status{}, &ParseError{Reason: fmt.Sprintf("the text has %d bytes, more than %d", len(text), maxText)}
	}
	if !utf8.ValidString(text) {
		return Status{}, &ParseError{Reason: "the text is not UTF-8: it is foreign"}
	}
	var p parser
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		p.number++
		if err := p.read(line); err != nil {
			return Status{}, &ParseError{Line: p.number, Text: shorten(line), Reason: err.Error()}
		}
	}
	if missing := p.missing(len(statusLines)); missing != "" {
		return Status{}, &ParseError{Reason: missing + " is missing: the text is truncated or foreign"}
	}
	return p.status, nil
}

// parser is the state between two lines.
type parser struct {
	status Status
	// number is the current line's, from 1.
	number int
	// next is the index of the first of statusLines that may follow.
	next int
	// seen has bit i set when statusLines[i] was read.
	seen uint32
	// rows is true below "Servers:".
	rows bool
}

func (p *parser) read(line string) error {
	// A carriage return counts, too: ovsdb-server prints none.
	if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return errors.New("holds a control character: the text is foreign")
	}
	if p.number == 1 {
		if !IsIdentity(line) {
			return errors.New("not the four hex digits of a server: the text is truncated or foreign")
		}
		p.status.Nick = line
		return nil
	}
	if p.rows && strings.HasPrefix(line, " ") {
		return p.readRow(line)
	}
	p.rows = false
	known, err := p.readKnown(line)
	if known || err != nil {
		return err
	}
	if p.next == len(statusLines) {
		// A wrong number of members would change the quorum.
		if _, err := readMember(line); err == nil {
			return errors.New("a member's row that is not directly below \"Servers:\"")
		}
	}
	p.status.Unknown = append(p.status.Unknown, Unknown{Line: p.number, Text: line})
	return nil
}

// readKnown parses the line if it is one of statusLines.
func (p *parser) readKnown(line string) (known bool, err error) {
	for i := p.next; i < len(statusLines); i++ {
		f := &statusLines[i]
		rest, ok := strings.CutPrefix(line, f.key)
		if !ok || f.key == "" && (line != "" || i != p.next) {
			continue
		}
		if missing := p.missing(i); missing != "" {
			return true, fmt.Errorf("%s is missing before it: the text is truncated or foreign", missing)
		}
		p.next, p.seen = i+1, p.seen|1<<i
		if f.many {
			p.next = i
		}
		p.rows = p.next == len(statusLines)
		value, err := f.value(rest)
		if err != nil {
			return true, err
		}
		return true, f.read(&p.status, value)
	}
	err = p.misplaced(line)
	return err != nil, err
}

// misplaced returns an error if the line is one of those that come earlier.
func (p *parser) misplaced(line string) error {
	for i, f := range statusLines[:p.next] {
		switch {
		case f.key == "" || !strings.HasPrefix(line, f.key):
		case p.seen&(1<<i) != 0 && !f.many:
			return errors.New("duplicate line")
		default:
			return errors.New("out of order")
		}
	}
	return nil
}

// missing returns the first line before statusLines[end] that is always printed and was not read.
func (p *parser) missing(end int) string {
	for i := p.next; i < end; i++ {
		switch f := &statusLines[i]; {
		case !f.always:
		case f.key == "":
			return fmt.Sprintf("the empty line after %q", statusLines[i-1].key)
		default:
			return fmt.Sprintf("%q", f.key)
		}
	}
	return ""
}

func (p *parser) readRow(line string) error {
	m, err := readMember(line)
	if err != nil {
		return err
	}
	if m.Self && m.Short != p.status.Server.Short() {
		return errors.New("\"(self)\" is not at the row of the server that was asked")
	}
	if _, found := p.status.self(); m.Self && found {
		return errors.New("duplicate \"(self)\"")
	}
	p.status.Servers = append(p.status.Servers, m)
	return nil
}

func shorten(line string) string {
	if len(line) <= maxQuoted {
		return line
	}
	end := maxQuoted
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}
