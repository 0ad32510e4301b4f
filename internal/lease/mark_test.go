package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func anyMark(t *rapid.T) Mark {
	return Mark{
		ID: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "id"), Kind: rapid.SampledFrom([]Kind{Leave, Kick, Down}).Draw(t, "kind"),
		By: rapid.StringMatching(`[a-z]{1,5}/[0-9]`).Draw(t, "by"), From: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "from"),
	}
}

var (
	leave = Mark{ID: "aaaa", Kind: Leave, By: "a/0", From: "aaaa"}
	kick  = Mark{ID: "bbbb", Kind: Kick, By: "a/0", From: "aaaa"}
	down  = Mark{ID: "aaaa", Kind: Down, By: "a/0", From: "aaaa"}
)

func nothingGone(string) bool { return false }

func isGone(id string) func(string) bool { return func(other string) bool { return other == id } }

func TestMarksOutliveTheirHolder(t *testing.T) {
	r := Record{}.Taken("a/0", time.Second).Noting(leave).Noting(leave).Noting(kick).Noting(down)
	want := []Mark{leave, kick, down}
	assert.Equal(t, want, r.Marks, "two kinds of one server are two")
	assert.Equal(t, want, r.Taken("a/1", time.Second).Marks)
	assert.Equal(t, want, r.Released().Marks)
	assert.Equal(t, []Mark{kick}, r.Without(func(m Mark) bool { return m.ID == "aaaa" }).Marks)
	assert.Equal(t, want, r.Marks, "the original is not touched")
}

// Units of a version that told no kinds read and write server IDs only.
func TestRecordOfAVersionThatToldNoKindsIsTakenAtItsWorst(t *testing.T) {
	r, err := Parse(`{"holder":"a/1","term":4,"seq":9,"ttl":23,"pending":["aaaa","bbbb"]}`)
	require.NoError(t, err)
	assert.Equal(t, Record{Holder: "a/1", Term: 4, Sequence: 9, TTLSeconds: 23, Marks: []Mark{{ID: "aaaa"}, {ID: "bbbb"}}}, r)
	assert.JSONEq(t, `{"holder":"a/1","term":4,"seq":9,"ttl":23,"pending":["aaaa","bbbb"]}`, r.String())

	mixed := r.Noting(down)
	assert.JSONEq(t, `{"holder":"a/1","term":4,"seq":10,"ttl":23,"pending":["aaaa","bbbb"],"noted":[{"id":"aaaa","kind":"down","by":"a/0","from":"aaaa"}]}`,
		mixed.String(), "they find every server in pending")
}

func TestOnlyTheHoldersOwnRemovalFreesItsLock(t *testing.T) {
	held := Record{}.Taken("a/0", time.Second)
	tests := map[string]struct {
		marks []Mark
		gone  func(string) bool
		free  bool
	}{
		"nothing noted":                      {nil, isGone("aaaa"), false},
		"its leave is done":                  {[]Mark{leave}, isGone("aaaa"), true},
		"its kick is done":                   {[]Mark{kick}, isGone("bbbb"), true},
		"its kick is not done":               {[]Mark{kick}, nothingGone, false},
		"another unit's is done":             {[]Mark{{ID: "bbbb", Kind: Kick, By: "a/1"}}, isGone("bbbb"), false},
		"an inherited one is, its own isn't": {[]Mark{{ID: "bbbb", Kind: Kick, By: "a/1"}, leave}, isGone("bbbb"), false},
		"it restarts, another's is done":     {[]Mark{{ID: "bbbb", Kind: Kick, By: "a/1"}, down}, isGone("bbbb"), false},
		"it restarts, an old one is done":    {[]Mark{kick, down}, isGone("bbbb"), false},
		"of no known kind":                   {[]Mark{{ID: "bbbb"}}, isGone("bbbb"), false},
	}
	for name, test := range tests {
		r := held
		r.Marks = test.marks
		assert.Equal(t, test.free, r.HolderIsDone(test.gone), name)
	}
}

func TestOnlyWhoNotedAChangeTidiesIt(t *testing.T) {
	r := Record{Marks: []Mark{leave, kick, down}}
	target := Tidier{Unit: "a/1", Server: "bbbb", Gone: nothingGone, Now: start}
	next, changed := r.Tidied(target)
	assert.False(t, changed)
	assert.Equal(t, r.Marks, next.Marks, "the target of a kick may yet be removed")

	noter := Tidier{Unit: "a/0", Server: "aaaa", Gone: nothingGone, Now: start}
	next, changed = r.Tidied(noter)
	assert.True(t, changed)
	assert.Empty(t, next.Marks)
	assert.NotEqual(t, r.String(), next.String())

	target.Gone = isGone("aaaa") // its kick may still be on its way
	next, changed = r.Tidied(target)
	assert.True(t, changed)
	require.Len(t, next.Marks, 1)
	assert.Equal(t, start.Unix(), next.Marks[0].Seen)
	target.Now = start.Add(orphanPatience + time.Second)
	next, changed = next.Tidied(target)
	assert.True(t, changed)
	assert.Empty(t, next.Marks)
}

func TestMarkOfNoKnownKindTakesItsTime(t *testing.T) {
	r := Record{Marks: []Mark{{ID: "aaaa"}}}
	at := func(unit, server string, now time.Time) Tidier {
		return Tidier{Unit: unit, Server: server, Gone: nothingGone, Now: now}
	}
	_, changed := r.Tidied(at("a/1", "bbbb", start))
	assert.False(t, changed, "it is another server's")
	seen, changed := r.Tidied(at("a/0", "aaaa", start))
	require.True(t, changed)
	assert.Equal(t, []Mark{{ID: "aaaa", Seen: start.Unix()}}, seen.Marks)
	stored, err := Parse(seen.String())
	require.NoError(t, err)
	require.Equal(t, seen, stored)
	_, changed = stored.Tidied(at("a/0", "aaaa", start.Add(orphanPatience)))
	assert.False(t, changed)
	again, changed := stored.Tidied(at("a/0", "aaaa", start.Add(-time.Hour)))
	assert.True(t, changed, "a clock that was set back begins anew")
	assert.Equal(t, start.Add(-time.Hour).Unix(), again.Marks[0].Seen)
	done, changed := stored.Tidied(at("a/0", "aaaa", start.Add(orphanPatience+time.Second)))
	assert.True(t, changed)
	assert.Empty(t, done.Marks)
}

// A machine that stood still as a whole has a clock that goes on as if nothing had
// been; the time of day tells.
func TestHolderMayNotActByEitherClock(t *testing.T) {
	h := Held{Record: Record{}.Taken("a/0", 30*time.Second), Written: time.Now()}
	assert.True(t, h.MayAct(h.Written.Add(time.Second)))
	assert.False(t, h.MayAct(h.Written.Round(0).Add(16*time.Second)))
}
