package raft

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yaml3 "go.yaml.in/yaml/v3"
	yaml2 "gopkg.in/yaml.v2" // replaced by Juju's fork, as in Juju
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// known is a member with a full ID, unknown one with only four digits.
func known(id string) Peer {
	return Peer{ID: ID(id), Member: Member{Short: id[:4], Address: "tcp:10.0.0.1:6643"}}
}

func unknown(short string) Peer {
	return Peer{Member: Member{Short: short, Address: "tcp:10.0.0.2:6643"}}
}

// R3: an ID means exactly one member, or it is refused.
func TestR3_resolve_finds_member(t *testing.T) {
	t.Parallel()
	const (
		first  = "7d8017e6-7fae-4d5c-b09d-c3301d930b5b"
		second = "7d801aaa-0000-4000-8000-000000000000" // shares five digits
		third  = "c14af3b0-1111-4222-8333-444444444444"
		short  = "6e62"
	)
	peers := []Peer{known(first), known(second), known(third), unknown(short)}
	tests := map[string]struct {
		given string
		peers []string // by the longest form
		text  string
	}{
		"capital letters":    {"C14AF3B0", []string{third}, third},
		"blanks around it":   {" \tc14a\n", []string{third}, third},
		"a wrong rest":       {"c14af3b1", nil, ""},
		"a wrong end":        {third[:35] + "5", nil, ""},
		"unknown ID":         {"13fe", nil, ""},
		"more than is known": {"6e627992", []string{short}, "6e627992"},
		"full_ID_known_by_digits_only": {
			"6e627992-b0a2-4380-8cf5-8bcd008cac5f", []string{short}, "6e627992-b0a2-4380-8cf5-8bcd008cac5f",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ok := Resolve(IDArgument{Text: tt.given}, peers)
			require.True(t, ok)
			assert.Equal(t, tt.peers, longest(r.Peers))
			assert.Equal(t, tt.text, r.Text)
		})
	}
}

func longest(peers []Peer) []string {
	var all []string
	for _, p := range peers {
		all = append(all, p.Longest())
	}
	return all
}

func TestR3_resolve_refuses_non_IDs(t *testing.T) {
	t.Parallel()
	full := "c14af3b0-1111-4222-8333-444444444444"
	peers := []Peer{known(full), unknown("6e62")}
	for _, text := range []string{
		"", " ", "c", "c1", "c14", " c14 ", "zzzz", "c14g", "c14a ; rm", "c14a c14a", "0xc14a", "c14a\x00", "-c14", "----",
		"c14af3b01", "c14af3b01111", "c14a-f3b0", "c14af3b-0", strings.ReplaceAll(full, "-", ""), full + "5", full + "-",
		full + " x",
		"tcp:10.0.0.1:6643", "10.0.0.1", "ovn-central/4", "self", "unknown", "*", "c14a*", "ｃ14a",
		strings.Repeat("c", 10000),
	} {
		r, ok := Resolve(IDArgument{Text: text}, peers)
		assert.False(t, ok, "%.40q", text)
		assert.Empty(t, r, "%.40q", text)
	}
}

// Every prefix from four digits on finds its member, and its full ID is passed to the server.
func TestR3_every_prefix_finds_its_member(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(uuidForm).Draw(t, "ID")
		n := rapid.IntRange(minIDDigits, len(id)).Draw(t, "length")
		text := id[:n]
		if rapid.Bool().Draw(t, "capitals") {
			text = strings.ToUpper(text)
		}
		r, ok := Resolve(IDArgument{Text: text}, []Peer{known(id)})
		require.True(t, ok)
		require.Equal(t, []string{id}, longest(r.Peers))
		require.Equal(t, id, r.Text)

		r, ok = Resolve(IDArgument{Text: text}, []Peer{unknown(id[:4])})
		require.True(t, ok)
		require.Len(t, r.Peers, 1)
		require.Equal(t, id[:n], r.Text, "the server is to compare all that was typed")

		// An ID that continues differently finds no member.
		other := rapid.StringMatching(uuidForm).Draw(t, "another ID")
		r, _ = Resolve(IDArgument{Text: text}, []Peer{known(other)})
		require.Equal(t, strings.HasPrefix(other, id[:n]), len(r.Peers) == 1)
	})
}

// R3: the text passed to the server is unique: ovsdb-server's prefix matcher never has a choice.
func TestR3_server_gets_one_member_or_none(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Few digits, so that IDs often share many.
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[07]{6}[13e]{2}-0000-4000-8000-0000000000[01]{2}`), 1, 7,
			rapid.ID[string]).Draw(t, "IDs")
		var peers []Peer
		for _, id := range ids {
			if rapid.Bool().Draw(t, "known") {
				peers = append(peers, known(id))
			} else {
				peers = append(peers, unknown(id[:4]))
			}
		}
		target := rapid.SampledFrom(ids).Draw(t, "target")
		text := target[:rapid.IntRange(minIDDigits, len(target)).Draw(t, "length")]
		r, ok := Resolve(IDArgument{Text: text}, peers)
		require.True(t, ok)
		require.Contains(t, longest(r.Peers), peers[slices.Index(ids, target)].Longest(),
			"the target is among them")
		if len(r.Peers) != 1 {
			require.Empty(t, r.Text)
			return
		}
		var meant []string
		for _, id := range ids {
			if strings.HasPrefix(id, r.Text) {
				meant = append(meant, id)
			}
		}
		require.Equal(t, []string{target}, meant)
	})
}

func TestR3_other_numbers_find_none(t *testing.T) {
	t.Parallel()
	peers := []Peer{
		known("3974f3b0-1111-4222-8333-444444444444"), known("0017f3b0-1111-4222-8333-444444444444"), unknown("13e4"),
	}
	for _, number := range []string{
		"", "-3974", "3974.5", "397", "39740", "0.5", "1e400", "-1e400", "99999999999", "nonsense", "null", "true",
	} {
		r, _ := Resolve(IDArgument{Text: number, Number: true}, peers)
		assert.Empty(t, r.Peers, number)
		assert.Empty(t, r.Text, number)
	}
}

func TestIdentify_unknown_number_explains_quoting(t *testing.T) {
	t.Parallel()
	_, refused := Identify(ovndb.NB, IDArgument{Text: "83", Number: true}, []Peer{unknown("13e4")}, nil)
	require.NotNil(t, refused)
	assert.Equal(t, finding.UnknownMember, refused.Code)
	require.Len(t, refused.Causes, 1)
	assert.Equal(t, finding.IDReadAsNumber, refused.Causes[0].Code)
	_, refused = Identify(ovndb.NB, IDArgument{Text: "abcd"}, []Peer{unknown("13e4")}, nil)
	assert.Empty(t, refused.Causes)
	assert.Equal(t, []finding.Server{unknown("13e4").server()}, refused.Args.Members)
}

func TestR3_ambiguous_number_means_both(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		number string
		peers  []string
		want   []string
	}{
		"a zero in front or two bits": {"3", []string{"0003", "0b11", "0004"}, []string{"0003", "0b11"}},
		"nothing but zeros":           {"0", []string{"0000", "0b00", "00e7", "0001"}, []string{"0000", "0b00", "00e7"}},
		"octal_if_possible":           {"15", []string{"0017", "0015", "0013"}, []string{"0017"}},
		"else as decimal":             {"18", []string{"0018", "0022", "0024"}, []string{"0018", "0022"}},
		"a float and an integer":      {"130000", []string{"13e4", "1300", "31e4"}, []string{"13e4"}},
		"the same, with full IDs": {
			"130000",
			[]string{"13e4aaaa-0000-4000-8000-000000000000", "130000aa-0000-4000-8000-000000000000"},
			[]string{"13e4aaaa-0000-4000-8000-000000000000", "130000aa-0000-4000-8000-000000000000"},
		},
		"four of its digits, or eight": {
			"39741234",
			[]string{"39741234-0000-4000-8000-000000000000", "3974"},
			[]string{"39741234-0000-4000-8000-000000000000"},
		},
	}
	for name, tt := range tests {
		var peers []Peer
		for _, id := range tt.peers {
			if len(id) > 4 {
				peers = append(peers, known(id))
			} else {
				peers = append(peers, unknown(id))
			}
		}
		r, ok := Resolve(IDArgument{Text: tt.number, Number: true}, peers)
		require.True(t, ok)
		assert.Equal(t, tt.want, longest(r.Peers), name)
		assert.Equal(t, len(tt.want) == 1, r.Text != "", "%s: %q", name, r.Text)
	}
}

// readers are YAML parsers of clients: Juju's own fork, and the upstream one.
var readers = map[string]func([]byte, any) error{
	"Juju's reader": yaml2.Unmarshal,
	"yaml.v3":       func(text []byte, v any) error { return yaml3.Unmarshal(text, v) },
}

// handedOver returns the value that the charm gets for a typed one: the client parses it as YAML, and action-get
// prints it as JSON. ok is false if JSON has no such number.
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

// R3: each of the 65,536 identities finds its member after any parser. If a parser reads several as the same number,
// all of them are found.
func TestR3_every_identity_survives_YAML(t *testing.T) {
	t.Parallel()
	// Juju's parser reads 9,516 identities as numbers. The count of the other parser does not matter.
	counts := map[string]int{"Juju's reader": 9516}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			members := map[string][]Peer{} // members whose identities become one number
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

// R3: so does every longer form of an ID. If the first group ends in e, as in 1234567e-8901, the dash and the second
// group are an exponent.
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

const uuidForm = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
