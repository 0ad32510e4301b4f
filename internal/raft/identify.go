package raft

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Given is a server ID as an operator typed it and Juju handed it over. Juju
// reads the values of action parameters as YAML, which takes 9,516 of the
// 65,536 identities for numbers (3974, 0017, 13e4): then Number is set, and Text
// is that number in decimal.
type Given struct {
	Text   string
	Number bool
}

// minGiven is the least number of hex digits that may stand for a server: what
// cluster/status prints. ovsdb-server itself would take any prefix, even none.
const minGiven = 4

// numericPrefixes are the lengths at which a UUID's prefix can still be a number
// in YAML: its first group has eight digits, the dash after it ends that.
const numericPrefixes = 8

var idText = regexp.MustCompile(`^[0-9a-f]{1,8}$|^[0-9a-f]{8}-[0-9a-f-]{0,27}$`)

// Resolution is what became of a Given.
type Resolution struct {
	// Peers are the members that it can mean.
	Peers []Peer
	// Text is the ID to name to the server: the longest form that is known of
	// the only member, never shorter than what was typed.
	Text string
}

// Resolve finds the members of peers that given can mean. It does not judge: no
// member and several are results like one. ok is false where given is no ID at
// all, or one too short to be trusted.
func Resolve(given Given, peers []Peer) (r Resolution, ok bool) {
	text := strings.ToLower(strings.TrimSpace(given.Text))
	if !given.Number && (len(text) < minGiven || !idText.MatchString(text)) {
		return r, false
	}
	for _, p := range peers {
		if given.Number && p.reads(text) || !given.Number && p.matches(text) {
			r.Peers = append(r.Peers, p)
		}
	}
	if len(r.Peers) == 1 {
		r.Text = r.Peers[0].Longest()
		if !given.Number && len(text) > len(r.Text) {
			// The server compares the whole of it, and refuses a wrong rest.
			r.Text = text
		}
	}
	return r, true
}

// matches says whether the member's ID begins with text, as far as it is known.
func (p Peer) matches(text string) bool {
	if p.ID != "" {
		return strings.HasPrefix(string(p.ID), text)
	}
	return strings.HasPrefix(text, p.Short)
}

// reads says whether a YAML reader could have made the number out of a prefix of
// the member's ID.
func (p Peer) reads(number string) bool {
	want, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	id := p.Longest()
	for n := minGiven; n <= min(numericPrefixes, len(id)); n++ {
		if slices.Contains(yamlNumbers(id[:n]), want) {
			return true
		}
	}
	return false
}

// yamlNumbers lists the numbers that YAML readers make of an unquoted run of hex
// digits. They differ: a leading zero is octal in YAML 1.1 and in Juju's own
// reader, decimal in YAML 1.2; 0b is binary in YAML 1.1; 13e4 is a float in all.
func yamlNumbers(digits string) []float64 {
	var all []float64
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		all = append(all, float64(n))
	}
	if digits[0] == '0' {
		if n, err := strconv.ParseUint(digits, 8, 64); err == nil {
			all = append(all, float64(n))
		}
		if n, err := strconv.ParseUint(strings.TrimPrefix(digits, "0b"), 2, 64); err == nil && digits[1] == 'b' {
			all = append(all, float64(n))
		}
	}
	if strings.Contains(digits, "e") {
		if f, err := strconv.ParseFloat(digits, 64); err == nil {
			all = append(all, f)
		}
	}
	return all
}
