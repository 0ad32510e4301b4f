package raft

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yaml3 "go.yaml.in/yaml/v3"
	yaml2 "gopkg.in/yaml.v2" // replaced by Juju's fork, as in Juju
	"pgregory.net/rapid"
)

// readers are the possible YAML parsers between an operator's key=value and the charm: the fork of Juju's own client,
// and those of other clients.
var readers = map[string]func([]byte, any) error{
	"Juju's reader": yaml2.Unmarshal,
	"yaml.v3":       func(text []byte, v any) error { return yaml3.Unmarshal(text, v) },
}

// handedOver is what the charm gets of a typed value: parsed as YAML, and printed as JSON by action-get. ok is false if
// JSON has no such number, so that it never arrives.
func handedOver(read func([]byte, any) error, typed string) (g IDArgument, ok bool, err error) {
	var v any
	if err := read([]byte(typed), &v); err != nil {
		return g, false, err
	}
	if text, isText := v.(string); isText {
		return IDArgument{Text: text}, true, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return g, false, nil //nolint:nilerr // an infinite number: Juju can't send it either
	}
	var n json.Number
	err = json.Unmarshal(b, &n)
	return IDArgument{Text: n.String(), Number: true}, true, err
}

// R3: each of the 65,536 identities finds its member again after any parser; if several become one number, all of them
// are found.
func TestR3_every_identity_survives_YAML(t *testing.T) {
	t.Parallel()
	// Facts about Juju's own parser: it reads 9,516 as numbers. The other's count does not matter, if it is not 0.
	counts := map[string]int{"Juju's reader": 9516}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			members := map[string][]Peer{} // those that become one number
			numbers := 0
			for i := range 1 << 16 {
				identity := fmt.Sprintf("%04x", i)
				g, ok, err := handedOver(read, identity)
				if err != nil || !ok {
					require.Failf(t, "not handed over", "%s: %v", identity, err)
				}
				full := string(fullOf(identity))
				if !finds(g, known(full), full) || !finds(g, unknown(identity), identity) {
					require.Failf(t, "not found", "%s, which became %+v", identity, g)
				}
				if g.Number {
					numbers++
					members[g.Text] = append(members[g.Text], known(full))
				} else {
					require.Equal(t, identity, g.Text)
				}
			}
			for number, peers := range members {
				r, ok := Resolve(IDArgument{Text: number, Number: true}, peers)
				require.True(t, ok)
				require.Equal(t, peers, r.Peers, "%s can mean any of them", number)
			}
			if want, isKnown := counts[name]; isKnown {
				assert.Equal(t, want, numbers)
			}
			assert.Less(t, len(members), numbers, "some of them become the same number")
		})
	}
}

func finds(g IDArgument, p Peer, text string) bool {
	r, ok := Resolve(g, []Peer{p})
	return ok && len(r.Peers) == 1 && r.Text == text
}

// R3: so does every longer form of an ID. If the first group ends in e, the dash and the second group are an exponent:
// 1234567e-8901.
func TestR3_every_longer_prefix_survives_YAML(t *testing.T) {
	t.Parallel()
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				// Mostly digits that a number can have.
				id := rapid.OneOf(
					rapid.StringMatching(`[0-9]{8}`), rapid.StringMatching(`0[0-7]{7}`), rapid.StringMatching(`0b[01]{6}`),
					rapid.StringMatching(`[0-9]e[0-9]{6}`), rapid.StringMatching(`[0-9]{3}e[0-9]{4}`),
					rapid.StringMatching(`[0-9]{6}e[0-9]`), rapid.StringMatching(`[0-9]{7}e`), rapid.StringMatching(`[0-9a-f]{8}`),
				).Draw(t, "first group") + rapid.StringMatching(`-[0-9]{4}`).Draw(t, "second group") + "-4222-8333-444444444444"
				typed := id[:rapid.IntRange(minIDDigits, len(id)).Draw(t, "length")]
				g, ok, err := handedOver(read, typed)
				require.NoError(t, err)
				if !ok {
					return
				}
				require.True(t, finds(g, known(id), id), "%s, which became %+v", typed, g)
			})
		})
	}
}

// An exponent of three zeros is the longest prefix that can be a number.
func TestR3_prefix_beyond_dash_survives_YAML(t *testing.T) {
	t.Parallel()
	const id = "1000001e-0001-4222-8333-444444444444"
	for name, read := range readers {
		for n := minIDDigits; n <= len(id); n++ {
			g, ok, err := handedOver(read, id[:n])
			require.NoError(t, err)
			require.True(t, ok)
			assert.Equal(t, n < len("1000001e") || n > len("1000001e-") && n <= len("1000001e-0001"), g.Number, id[:n])
			assert.True(t, finds(g, known(id), id), "%s: %s became %+v", name, id[:n], g)
		}
	}
}

// Examples of each kind. Other clients make 130000 of 13e4.
func TestR3_identities_as_Juju_parses_them(t *testing.T) {
	t.Parallel()
	tests := map[string]IDArgument{
		"3974": {"3974", true}, "0017": {"15", true}, "0b11": {"3", true}, "0003": {"3", true},
		"13e4": {"13e4", false}, "1e10": {"1e10", false}, "0018": {"0018", false}, "9e99": {"9e99", false}, "beef": {"beef", false},
	}
	for typed, want := range tests {
		g, ok, err := handedOver(yaml2.Unmarshal, typed)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, want, g, typed)
		assert.True(t, finds(g, known(string(fullOf(typed))), string(fullOf(typed))), typed)
	}
}
