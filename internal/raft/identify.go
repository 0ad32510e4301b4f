package raft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// IDArgument is a server ID as an operator typed it and Juju passed it on. Juju parses the values of action parameters
// as YAML, which reads 9,516 of the 65,536 identities as integers (3974, 0017); other clients also read 13e4 as a
// number. Then Number is set, and Text is that number in decimal.
type IDArgument struct {
	Text   string
	Number bool
}

// minIDDigits is the least number of hex digits that identify a server: cluster/status prints that many. ovsdb-server
// itself accepts any prefix, even an empty one.
const minIDDigits = 4

// numericPrefix is the longest prefix of a UUID that can be a number in YAML: if its first group ends in e, the dash
// and the second group are an exponent.
const numericPrefix = 13

// isID reports whether text, in lower case, is a UUID or the beginning of one.
func isID(text string) bool {
	first, rest, more := strings.Cut(text, "-")
	return strings.Trim(text, "0123456789abcdef-") == "" && first != "" && len(first) <= 8 &&
		(!more || len(first) == 8 && len(rest) <= 27)
}

// Resolution is the result of resolving an [IDArgument].
type Resolution struct {
	// Peers are the members that the ID may mean.
	Peers []Peer
	// Text is the ID to pass to the server. If Peers has one member, Text is its longest known ID, never shorter than
	// the typed one.
	Text string
}

// Resolve returns the members of peers that given may mean. It does not judge: the result may have no member, or
// several. ok is false if given is no ID, or too short.
func Resolve(given IDArgument, peers []Peer) (r Resolution, ok bool) {
	text := strings.ToLower(strings.TrimSpace(given.Text))
	if !given.Number && (len(text) < minIDDigits || !isID(text)) {
		return r, false
	}
	if r.Peers = matching(text, peers); given.Number {
		r.Peers = slices.DeleteFunc(slices.Clone(peers), func(p Peer) bool { return !p.matchesNumber(text) })
	}
	if len(r.Peers) == 1 {
		r.Text = r.Peers[0].Longest()
		if !given.Number && len(text) > len(r.Text) {
			// The server compares the whole ID, so it refuses one whose remaining digits are wrong.
			r.Text = text
		}
	}
	return r, true
}

// Identify resolves given to one member of database d, or refuses (R3). here has the members of d. there has those of
// the other database, to recognise an ID that was meant for it.
func Identify(d ovndb.Database, given IDArgument, here, there []Peer) (Resolution, *finding.Finding) {
	refuse := func(code finding.Code, args finding.Args) (Resolution, *finding.Finding) {
		f := finding.Of(code, d, args)
		return Resolution{}, &f
	}
	found, ok := Resolve(given, here)
	switch {
	case !ok:
		return refuse(finding.MemberIDInvalid, finding.Args{Value: fmt.Sprintf("%.60q", given.Text)})
	case len(found.Peers) == 1:
		return found, nil
	case len(found.Peers) > 1:
		return refuse(finding.MemberAmbiguous,
			finding.Args{Value: given.Text, Count: len(found.Peers), Members: servers(found.Peers)})
	}
	if other, _ := Resolve(given, there); len(other.Peers) > 0 {
		return refuse(finding.MemberOfOther, finding.Args{
			Member: other.Peers[0].server(), Value: string(d.Other()),
			Other: d.Other().Short(),
		})
	}
	_, refusal := refuse(finding.UnknownMember, finding.Args{Value: given.Text, Members: servers(here)})
	if given.Number {
		refusal.Causes = []finding.Finding{finding.New(finding.IDReadAsNumber, finding.Subject{},
			finding.Args{Value: given.Text})}
	}
	return Resolution{}, refusal
}

// matching returns the members that an ID, or its beginning, may mean: the member with that full ID, otherwise all
// members that match.
func matching(text string, peers []Peer) (fit []Peer) {
	for _, p := range peers {
		if p.ID != "" && string(p.ID) == text {
			return []Peer{p}
		}
		if p.hasPrefix(text) {
			fit = append(fit, p)
		}
	}
	return fit
}

// Is reports whether the member may be the server with this ID. It compares the full IDs, or the first four digits if
// no more are known of either. The ID must not be empty.
func (p Peer) Is(id ID) bool { return id != "" && p.hasPrefix(string(id)) }

func (p Peer) isAny(ids []ID) bool { return slices.ContainsFunc(ids, p.Is) }

// hasPrefix reports whether the known part of the member's ID begins with text.
func (p Peer) hasPrefix(text string) bool {
	if p.ID != "" {
		return strings.HasPrefix(string(p.ID), text)
	}
	return strings.HasPrefix(text, p.Short)
}

// matchesNumber reports whether a YAML parser may have read a prefix of the member's ID as number.
func (p Peer) matchesNumber(number string) bool {
	want, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	id := p.Longest()
	for n := minIDDigits; n <= min(numericPrefix, len(id)); n++ {
		if slices.Contains(yamlNumbers(id[:n]), want) {
			return true
		}
	}
	return false
}

// yamlNumbers lists the numbers that YAML parsers make of an unquoted prefix of an ID. A leading zero means octal to
// Juju's parser (and to yaml.v2 and v3), and decimal only if it can't be octal; 0b is binary; 13e4 is a float.
func yamlNumbers(digits string) []float64 {
	var all []float64
	add := func(base int, digits string) bool {
		n, err := strconv.ParseUint(digits, base, 64)
		if err == nil {
			all = append(all, float64(n))
		}
		return err == nil
	}
	if binary, is := strings.CutPrefix(digits, "0b"); is {
		add(2, binary)
	}
	if digits[0] != '0' || !add(8, digits) {
		add(10, digits)
	}
	if strings.Contains(digits, "e") {
		if f, err := strconv.ParseFloat(digits, 64); err == nil {
			all = append(all, f)
		}
	}
	return all
}
