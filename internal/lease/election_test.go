package lease

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
)

// R17: for an hour.
func TestElection_one_holder_writes_once(t *testing.T) {
	t.Parallel()
	const hour = int(time.Hour / tick)
	for n := 1; n <= 5; n++ {
		p := simulate(t, n, hour, immediate)
		p.check(hour)
		assert.Equal(t, 1, p.swaps, "%d agents", n)
		assert.Equal(t, p.holders(quiet), p.holders(hour))
	}
}

// anyTwo visits every step-th pair of faults of that many agents. The faults are of each kind, with these beginnings
// and durations.
func anyTwo(agents, step int, begins, longs []int, visit func(a, b fault)) {
	var all []fault
	for what := range troubles {
		for agent := range agents {
			for _, begin := range begins {
				for _, long := range longs {
					all = append(all, fault{what, agent, begin, begin + long})
				}
			}
		}
	}
	n := 0
	for i := range all {
		for j := i; j < len(all); j++ {
			if n++; n%step == 0 {
				visit(all[i], all[j])
			}
		}
	}
}

// EXPLORE=10 tries 10 times as many pairs for three agents, and all on the coarser grid; EXPLORE=1000 tries all, in
// minutes.
func TestElection_two_faults_leave_one_holder(t *testing.T) {
	t.Parallel()
	const until = 96
	delay := 0
	anyTwo(3, max(1, 1009/exploretest.Factor(t)), []int{16, 17, 21, 25, 30}, []int{1, 3, 5, 9, 17}, func(a, b fault) {
		simulate(t, 3, until, func() int { delay = (delay + 5) % 13; return delay }, a, b).check(until)
	})
	for _, agents := range []int{2, 3} {
		anyTwo(agents, max(1, 61/exploretest.Factor(t)), []int{16, 21}, []int{3, 17}, func(a, b fault) {
			for _, late := range []int{0, 7} {
				simulate(t, agents, until, func() int { return late }, a, b).check(until)
			}
		})
	}
}

func TestElection_random_faults_leave_one_holder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "agents")
		var faults []fault
		for i := range rapid.IntRange(1, 12).Draw(t, "faults") {
			from := rapid.IntRange(2, 120).Draw(t, fmt.Sprint("from ", i))
			faults = append(faults, fault{
				trouble(rapid.IntRange(0, int(troubles)-1).Draw(t, "kind")), rapid.IntRange(0, n-1).Draw(t, "agent"),
				from, from + rapid.IntRange(1, 40).Draw(t, "long"),
			})
		}
		const until = 120 + 40 + 6*quiet // takeovers after flaps wait longer
		delay := rapid.IntRange(0, 40)
		simulate(t, n, until, func() int { return delay.Draw(t, "delay") }, faults...).check(until)
	})
}

func TestElection_holder_unheard_by_one_standby_stays(t *testing.T) {
	t.Parallel()
	for agent := range 3 {
		for _, what := range []trouble{unlinked, behind} {
			p := simulate(t, 3, 500, immediate, fault{what, agent, 20, 400})
			p.check(500)
			assert.Equal(t, 1, p.swaps, "%d of agent %d", what, agent)
		}
		p := simulate(t, 3, 500, immediate, fault{unreached, agent, 20, 400})
		p.check(500)
		assert.LessOrEqual(t, p.swaps, 2, "the agent that hears no other takes over, and is heard")
	}
}

func TestElection_takeovers_between_cut_off_agents_slow_down(t *testing.T) {
	t.Parallel()
	p := simulate(t, 2, 2000, immediate, fault{unlinked, 0, 20, 1980})
	assert.Greater(t, p.swaps, 3, "this test can fail")
	assert.Less(t, p.swaps, 30, "in 245 TTLs")
}

// Neither a Raft election nor the holder's own actions are a reason to wait.
func TestElection_holder_survives_raft_election_and_releases_on_stop(t *testing.T) {
	t.Parallel()
	first := holder(t, simulate(t, 3, 20, immediate))
	for longer := range 2 {
		p := simulate(t, 3, 200, immediate, fault{election, 0, 20, 60}, fault{noDatabase, first, 20, 60 + longer})
		p.check(200)
		assert.Equal(t, 1, p.swaps, "a Raft election is no dead holder, even if it sees the end %d ticks later", longer)
		assert.Empty(t, p.holders(40))
	}
	p := simulate(t, 3, 200, immediate, fault{noDatabase, 0, 20, 60}, fault{noDatabase, 1, 20, 60},
		fault{noDatabase, 2, 20, 60})
	assert.Equal(t, 1, p.swaps, "lost connections are no dead holder")
	p = simulate(t, 3, 60, immediate, fault{answerLost, first, 0, 20})
	assert.Equal(t, 1, p.swaps, "a holder knows its record though the answer was lost")

	p = simulate(t, 3, 60, immediate, fault{stopped, first, 20, 50})
	assert.Len(t, p.holders(22), 1, "the next one takes over at once")
	assert.Equal(t, 3, p.swaps)

	p = simulate(t, 3, 100, immediate, fault{killed, first, 20, 90})
	assert.Empty(t, p.holders(26))
	assert.Len(t, p.holders(32), 1, "within 1.5 TTL of a kill")

	p = simulate(t, 3, 100, immediate, fault{noNorthd, first, 20, 90})
	assert.NotEqual(t, p.holders(19), p.holders(40), "a unit whose ovn-northd fails gives up")
	assert.Equal(t, 3, p.swaps)

	p = simulate(t, 3, 100, immediate, fault{noDatabase, first, 20, 90})
	assert.Equal(t, p.holders(19), p.holders(22))
	assert.Empty(t, p.holders(23), "it acts for half of the TTL")
	assert.Len(t, p.holders(27), 1, "it reports that it can't act: no agent waits for the whole TTL")
}

// holder returns the index of the agent that acted last.
func holder(t *testing.T, p *simulation) (i int) {
	t.Helper()
	_, err := fmt.Sscanf(p.holders(p.now - 1)[0], "u/%d", &i)
	require.NoError(t, err)
	return i
}

func TestElection_other_process_of_same_unit_may_not_act(t *testing.T) {
	t.Parallel()
	value := Record{Holder: "u/0", Instance: "1", Term: 4, TTLSeconds: 5}.String()
	e := Election{Unit: "u/0", Instance: "2", TTL: 5 * time.Second}
	e.SetEligible(true, time.Hour)
	e.ObserveRecord(value, time.Hour)
	d := e.Next(time.Hour)
	assert.False(t, d.Acts)
	next, err := Parse(d.Swap.New)
	require.NoError(t, err)
	assert.Equal(t, Record{Holder: "u/0", Instance: "2", Term: 5, Sequence: 1, TTLSeconds: 5}, next,
		"it does not wait for itself")
	assert.Equal(t, value, d.Swap.Old)
}

// A third agent hears both. Neither agent loses the record to the other.
func TestElection_agents_of_one_name_do_not_alternate(t *testing.T) {
	t.Parallel()
	all := []*Election{
		{Unit: "u/0", Instance: "1", Address: "a:1"},
		{Unit: "u/0", Instance: "2", Address: "a:2"},
		{Unit: "u/1", Instance: "3", Address: "b:1"},
	}
	for _, e := range all {
		e.TTL = ttl
		e.SetEligible(true, time.Hour)
	}
	value, swaps := "", 0
	tick := func(now time.Duration, running []*Election) {
		for _, e := range running {
			e.ObserveRecord(value, now)
			for _, other := range running {
				if other != e {
					e.ObserveAnswer(other.Answer(now), now)
				}
			}
			if d := e.Next(now); d.Swap.New != "" {
				value = d.Swap.New
				swaps++
				e.SwapEnded(SwapDone)
			}
		}
	}
	now := time.Hour
	for ; now < time.Hour+20*ttl; now += ttl / 8 {
		tick(now, all)
	}
	assert.Equal(t, 1, swaps)
	assert.True(t, all[0].Next(now).Acts)
	assert.True(t, all[1].HasNamesake())
	assert.False(t, all[0].HasNamesake() || all[2].HasNamesake())

	gone := now
	for swaps == 1 && now < gone+2*ttl {
		now += ttl / 8
		tick(now, all[1:2])
	}
	assert.Equal(t, 2, swaps)
	assert.InDelta(t, ttl, now-gone, float64(ttl)/4, "as long as for any other")
	assert.True(t, all[1].Next(now).Acts)
}

func TestElection_malformed_record_is_taken_over(t *testing.T) {
	t.Parallel()
	e := Election{Unit: "u/0", Instance: "1", TTL: 5 * time.Second}
	e.SetEligible(true, time.Hour)
	e.ObserveRecord("nonsense", time.Hour)
	assert.Equal(t, "nonsense", e.Next(time.Hour).Swap.Old)
	e.SwapEnded(SwapDone)
	assert.True(t, e.Next(time.Hour).Acts)
	assert.False(t, e.Next(time.Hour+2500*time.Millisecond).Acts, "a holder confirms every half of the TTL")
	e.Disconnected()
	assert.False(t, e.Next(time.Hour+time.Second).Acts, "the record may have changed")
	e.ObserveRecord(e.value, time.Hour+time.Second)
	assert.True(t, e.Next(time.Hour+time.Second).Acts)
}

func TestUnknownHolder(t *testing.T) {
	const own, other = "10.0.0.1:16402", "10.0.0.2:16402"
	for _, c := range []struct{ unit, holder, address, want string }{
		{"a/0", "", "", ""},
		{"a/0", "a/1", other, ""},
		{"a/0", "a/9", other, ""},
		{"a/0", "a/0", own, ""},
		{"a/0", "ghost/9", other, "ghost/9, "},
		{"a/0", "a", other, "a, "},
		{"a/0", "a/x", other, "a/x, "},
		{"a/0", "a/1", "10.0.0.9:16402", "a/1 at 10.0.0.9:16402"},
		{"a/0", "a/0", "10.0.0.9:16402", "a/0 at 10.0.0.9:16402"},
		{"a/0", "a/1", "", "a/1 at "},
		{"hand", "other", other, ""},
		{"hand", "other", "10.0.0.9:16402", "other at 10.0.0.9:16402"},
	} {
		r := Record{Holder: c.holder, Address: c.address}
		stranger := r.UnknownHolder(c.unit, func(at string) bool { return at == own || at == other })
		assert.Equal(t, c.want == "", stranger == "", c)
		assert.True(t, strings.HasPrefix(stranger, c.want), stranger)
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

// An unknown holder is not asked, so no agent hears it: it keeps the record for its TTL only.
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
