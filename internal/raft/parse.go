package raft

import (
	"errors"
	"fmt"
	"slices"
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
// order, and a value must be correct to the last character. It keeps lines that it does not know in
// [Status.Unknown], and the unknown end of a member's row in [Member.Extra].
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
	p := parser{status: Status{Text: text}}
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
	// nick is the first line: the first four hex digits of the server's ID.
	nick string
	// number is the current line's, from 1.
	number int
	// next is the index of the first of statusLines that may follow.
	next int
	// rows reports whether the line "Servers:" was read.
	rows bool
}

func (p *parser) read(line string) error {
	// This includes carriage returns: ovsdb-server prints none.
	if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return errors.New("holds a control character: the text is foreign")
	}
	if p.number == 1 {
		if !IsIdentity(line) {
			return errors.New("not the four hex digits of a server: the text is truncated or foreign")
		}
		p.nick = line
		return nil
	}
	if p.rows && strings.HasPrefix(line, " ") {
		return p.readRow(line)
	}
	p.rows = false
	for i, known := range statusLines {
		if value, found := strings.CutPrefix(line, known.key); found {
			return p.readKnown(i, value)
		}
	}
	if p.next == len(statusLines) {
		// A wrong number of members would change the quorum.
		if _, err := readMember(line); err == nil {
			return errors.New("a member's row that is not directly below \"Servers:\"")
		}
	}
	isUnused := func(key string) bool { return strings.HasPrefix(line, key) }
	if line != "" && !slices.ContainsFunc(unusedLines, isUnused) {
		p.status.Unknown = append(p.status.Unknown, line)
	}
	return nil
}

// readKnown reads the value of statusLines[i].
func (p *parser) readKnown(i int, value string) error {
	known := statusLines[i]
	if i < p.next {
		return errors.New("duplicate line, or out of order")
	}
	if missing := p.missing(i); missing != "" {
		return fmt.Errorf("%s is missing before it: the text is truncated or foreign", missing)
	}
	p.next = i + 1
	if known.many {
		p.next = i
	}
	p.rows = p.next == len(statusLines)
	if value != "" && strings.HasSuffix(known.key, ":") {
		text, spaced := strings.CutPrefix(value, " ")
		if !spaced || text == "" {
			return errors.New("no value after one space")
		}
		value = text
	}
	if err := known.read(&p.status, value); err != nil {
		return err
	}
	if server := p.status.Server; server != "" && server.Short() != p.nick {
		return fmt.Errorf("does not begin with the digits of the first line, %q", p.nick)
	}
	return nil
}

// missing returns the first line before statusLines[end] that is always printed but was not read.
func (p *parser) missing(end int) string {
	for _, f := range statusLines[min(p.next, end):end] {
		if !f.optional {
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
