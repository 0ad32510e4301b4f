package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	leave = Intent{ID: "aaaa", Kind: Leave, By: "a/0", From: "aaaa"}
	kick  = Intent{ID: "bbbb", Kind: Kick, By: "a/0", From: "aaaa"}
	down  = Intent{ID: "aaaa", Kind: Down, By: "a/0", From: "aaaa"}
)

func nothingGone(string) bool { return false }

func isGone(id string) func(string) bool { return func(other string) bool { return other == id } }

func TestIntent_outlives_holder(t *testing.T) {
	r := Record{}.Taken("a/0", time.Second).WithIntent(leave).WithIntent(leave).WithIntent(kick).WithIntent(down)
	want := []Intent{leave, kick, down}
	assert.Equal(t, want, r.Intents, "two kinds of one server are two")
	assert.Equal(t, want, r.Taken("a/1", time.Second).Intents)
	assert.Equal(t, want, r.Released().Intents)
	assert.Equal(t, []Intent{kick}, r.WithoutIntents(func(m Intent) bool { return m.ID == "aaaa" }).Intents)
	assert.Equal(t, want, r.Intents, "the original is not touched")
}

func TestIntent_stored_form(t *testing.T) {
	r := Record{Holder: "a/1", Term: 4, Sequence: 9, TTLSeconds: 23, Intents: []Intent{leave, down}}
	assert.JSONEq(t, `{"holder":"a/1","term":4,"seq":9,"ttl":23,"noted":[
		{"id":"aaaa","kind":"leave","by":"a/0","from":"aaaa"},
		{"id":"aaaa","kind":"down","by":"a/0","from":"aaaa"}]}`, r.String())
	again, err := Parse(r.String())
	require.NoError(t, err)
	assert.Equal(t, r, again)
}

func TestHolderIsDone_only_by_its_own_removals(t *testing.T) {
	held := Record{}.Taken("a/0", time.Second)
	tests := map[string]struct {
		marks []Intent
		gone  func(string) bool
		free  bool
	}{
		"nothing noted":                      {nil, isGone("aaaa"), false},
		"its leave is done":                  {[]Intent{leave}, isGone("aaaa"), true},
		"its kick is done":                   {[]Intent{kick}, isGone("bbbb"), true},
		"its kick is not done":               {[]Intent{kick}, nothingGone, false},
		"another unit's is done":             {[]Intent{{ID: "bbbb", Kind: Kick, By: "a/1"}}, isGone("bbbb"), false},
		"an inherited one is, its own isn't": {[]Intent{{ID: "bbbb", Kind: Kick, By: "a/1"}, leave}, isGone("bbbb"), false},
		"it restarts, another's is done":     {[]Intent{{ID: "bbbb", Kind: Kick, By: "a/1"}, down}, isGone("bbbb"), false},
		"it restarts, an old one is done":    {[]Intent{kick, down}, isGone("bbbb"), false},
		"of no known kind":                   {[]Intent{{ID: "bbbb"}}, isGone("bbbb"), false},
	}
	for name, test := range tests {
		r := held
		r.Intents = test.marks
		assert.Equal(t, test.free, r.HolderIsDone(test.gone), name)
	}
}

func TestWithoutEnded_only_author_ends_intent(t *testing.T) {
	r := Record{Intents: []Intent{leave, kick, down}}
	target := LiveOwner{Unit: "a/1", Server: "bbbb", Gone: nothingGone, Now: start}
	next, changed := r.WithoutEnded(target)
	assert.False(t, changed)
	assert.Equal(t, r.Intents, next.Intents, "the target of a kick may yet be removed")

	noter := LiveOwner{Unit: "a/0", Server: "aaaa", Gone: nothingGone, Now: start}
	next, changed = r.WithoutEnded(noter)
	assert.True(t, changed)
	assert.Empty(t, next.Intents)
	assert.NotEqual(t, r.String(), next.String())

	target.Gone = isGone("aaaa") // its kick may still be in flight
	next, changed = r.WithoutEnded(target)
	assert.True(t, changed)
	require.Len(t, next.Intents, 1)
	assert.Equal(t, start.Unix(), next.Intents[0].Seen)
	target.Now = start.Add(orphanTimeout + time.Second)
	next, changed = next.WithoutEnded(target)
	assert.True(t, changed)
	assert.Empty(t, next.Intents)
}

func TestWithoutEnded_kick_of_gone_unit_expires(t *testing.T) {
	r := Record{Intents: []Intent{kick}}
	at := func(unit, server string, now time.Time) LiveOwner {
		return LiveOwner{Unit: unit, Server: server, Gone: isGone(kick.From), Now: now}
	}
	_, changed := r.WithoutEnded(at("a/2", "cccc", start))
	assert.False(t, changed, "it is another server's")
	seen, changed := r.WithoutEnded(at("a/1", "bbbb", start))
	require.True(t, changed)
	assert.Equal(t, start.Unix(), seen.Intents[0].Seen)
	stored, err := Parse(seen.String())
	require.NoError(t, err)
	require.Equal(t, seen, stored)
	_, changed = stored.WithoutEnded(at("a/1", "bbbb", start.Add(orphanTimeout)))
	assert.False(t, changed)
	again, changed := stored.WithoutEnded(at("a/1", "bbbb", start.Add(-time.Hour)))
	assert.True(t, changed, "a clock that was set back restarts the wait")
	assert.Equal(t, start.Add(-time.Hour).Unix(), again.Intents[0].Seen)
	done, changed := stored.WithoutEnded(at("a/1", "bbbb", start.Add(orphanTimeout+time.Second)))
	assert.True(t, changed)
	assert.Empty(t, done.Intents)
}

// After a machine slept, its monotonic clock continues as if no time had passed; the wall clock shows the gap.
func TestMayAct_needs_both_clocks(t *testing.T) {
	h := Held{Record: Record{}.Taken("a/0", 30*time.Second), Written: time.Now()}
	assert.True(t, h.MayAct(h.Written.Add(time.Second)))
	assert.False(t, h.MayAct(h.Written.Round(0).Add(16*time.Second)))
}
