package lease

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnknownHolder(t *testing.T) {
	const own, other = "10.0.0.1:16402", "10.0.0.2:16402"
	for _, c := range []struct{ unit, holder, address, want string }{
		{"a/0", "", "", ""},
		{"a/0", "a/1", other, ""},
		{"a/0", "a/9", other, ""},
		{"a/0", "a/0", own, ""},
		{"a/0", "ghost/9", other, "ghost/9, which is no unit of a"},
		{"a/0", "a", other, "a, which is no unit of a"},
		{"a/0", "a/x", other, "a/x, which is no unit of a"},
		{"a/0", "a/1", "10.0.0.9:16402", "a/1 at 10.0.0.9:16402, no peer"},
		{"a/0", "a/0", "10.0.0.9:16402", "a/0 at 10.0.0.9:16402, no peer"},
		{"a/0", "a/1", "", "a/1 at , no peer"},
		{"hand", "other", other, ""},
		{"hand", "other", "10.0.0.9:16402", "other at 10.0.0.9:16402, no peer"},
	} {
		r := Record{Holder: c.holder, Address: c.address}
		assert.Equal(t, c.want, r.UnknownHolder(c.unit, func(at string) bool { return at == own || at == other }), c)
	}
}

// R18
func TestParse_holder_that_is_no_name_is_malformed(t *testing.T) {
	for _, bad := range []string{"a/1\x1b[2J", "a/1\na/2", "a /1", "a/1\u202e", strings.Repeat("x", 256)} {
		for _, r := range []Record{{Holder: bad}, {Holder: "a/1", Instance: bad}, {Holder: "a/1", Address: bad}} {
			_, err := Parse(r.String())
			require.ErrorIs(t, err, ErrMalformed, bad)
			assert.True(t, len(err.Error()) < 1000 && !strings.ContainsAny(err.Error(), "\x1b\n"), err)
		}
	}
}

// An unknown holder is not asked and so never heard: it keeps the record for its TTL only.
func TestUnknownHolder_delays_takeover_by_one_TTL(t *testing.T) {
	e := Election{Unit: "u/0", Instance: "1", Address: "10.0.0.1:16402", TTL: ttl}
	ghost := Record{Holder: "ghost/9", Instance: "x", Address: "10.9.9.9:16402", Term: 7, TTLSeconds: 600}
	now := ttl
	e.SetEligible(true, now)
	for begun := now; now < begun+ttl; now += tick {
		e.ObserveRecord(ghost.String(), now)
		e.ObserveAnswer(Answer{Unit: "u/1", Term: 7, HeardAgo: -1}, now)
		require.Empty(t, e.Next(now).Swap.New)
	}
	e.ObserveRecord(ghost.String(), now)
	next, err := Parse(e.Next(now).Swap.New)
	require.NoError(t, err)
	assert.Equal(t, "u/0", next.Holder)
	assert.Equal(t, uint64(8), next.Term)
}
