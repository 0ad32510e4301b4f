package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestWatch(t *testing.T) {
	var w Watch
	assert.Zero(t, w.Observe("", start))
	held := Record{}.Taken("a/0", 30*time.Second)
	assert.Zero(t, w.Observe(held.Released().String(), start))
	assert.Equal(t, held.Term, held.Released().Term, "the term continues to count")

	assert.Equal(t, 30*time.Second, w.Observe(held.String(), start))
	assert.Equal(t, 10*time.Second, w.Observe(held.String(), start.Add(20*time.Second)))
	renewed := held.Renewed().String()
	assert.Equal(t, 30*time.Second, w.Observe(renewed, start.Add(25*time.Second)), "a renewal restarts the TTL")
	assert.Equal(t, time.Second, w.Observe(renewed, start.Add(54*time.Second)))
	assert.Zero(t, w.Observe(renewed, start.Add(55*time.Second)))

	assert.Equal(t, malformedTTL, w.Observe("{garbage", start))
	assert.Zero(t, w.Observe("{garbage", start.Add(malformedTTL)))
	_, err := Parse("{garbage")
	require.ErrorIs(t, err, ErrMalformed)
	for ttl, want := range map[int]time.Duration{1 << 40: maxTTL, -5: 0} {
		assert.Equal(t, want, new(Watch).Observe(Record{Holder: "a/0", TTLSeconds: ttl}.String(), start))
	}
}

func TestRecord_every_write_changes_value(t *testing.T) {
	r := Record{}.Taken("a/0", time.Second)
	for name, next := range map[string]Record{
		"renewed": r.Renewed(), "released": r.Released(), "noting": r.WithIntent(Intent{ID: "x"}),
		"without": r.WithoutIntents(func(Intent) bool { return true }), "taken": r.Taken("a/0", time.Second),
	} {
		assert.NotEqual(t, r.String(), next.String(), name)
	}
}

func TestMayAct_not_late_in_TTL(t *testing.T) {
	h := Held{Record: Record{}.Taken("a/0", 30*time.Second), Written: start}
	assert.True(t, h.MayAct(start.Add(14*time.Second)))
	assert.False(t, h.MayAct(start.Add(15*time.Second)))
	assert.Equal(t, start.Add(15*time.Second), h.Until())
	assert.False(t, Held{Record: h.Released(), Written: start}.MayAct(start))
}

// Two units that follow the rules never both believe that they may act, in any order of their reads and writes.
func TestMayAct_at_most_one_holder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, store := start, ""
		units := []string{"a/0", "a/1", "a/2"}
		watches := make([]Watch, len(units))
		held := make([]Held, len(units))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "dt")) * time.Second)
			i := rapid.IntRange(0, len(units)-1).Draw(t, "unit")
			if held[i].Holder != "" { // renew by a compare-and-swap
				if store == held[i].String() {
					held[i] = Held{Record: held[i].Renewed(), Written: now}
					store = held[i].String()
				} else {
					held[i] = Held{}
				}
			} else if watches[i].Observe(store, now) == 0 {
				current, err := Parse(store)
				require.NoError(t, err)
				held[i] = Held{Record: current.Taken(units[i], 30*time.Second), Written: now}
				store = held[i].String()
			}
			acting := 0
			for j := range held {
				if held[j].MayAct(now) {
					acting++
				}
			}
			require.LessOrEqual(t, acting, 1)
		}
	})
}
