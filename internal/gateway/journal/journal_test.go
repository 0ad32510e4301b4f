package journal

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// someState returns a state of that many gateways on 6 chassis, and cordons.
func someState(r *rand.Rand, gateways int) (s schedule.State, cordons []string) {
	for n := range gateways {
		g := schedule.Group{Name: fmt.Sprintf("lrp-%d", n)}
		for i, c := range r.Perm(6)[:r.IntN(6)] {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: fmt.Sprintf("c%d", c), Priority: 10 * (i + 1)})
		}
		s.Groups = append(s.Groups, g)
	}
	for _, c := range r.Perm(6)[:r.IntN(4)] {
		cordons = append(cordons, fmt.Sprintf("c%d", c))
	}
	return s, cordons
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// desk is the part of a database that keeps a journal.
type desk struct {
	rows map[string]string
	next int
}

func (d *desk) write(w Writing) {
	d.next++
	for n, text := range w.Added {
		d.rows[fmt.Sprintf("%d-%d", d.next, n)] = text
	}
	maps.Copy(d.rows, w.Changed)
	for _, uuid := range w.Dropped {
		delete(d.rows, uuid)
	}
}

// now is the time of the next write.
func (d *desk) now() time.Time { return noon.Add(time.Duration(d.next) * time.Minute) }

// tag writes that an operation has ended with a layout, and reports whether anything was written.
func (d *desk) tag(id string, outcome Outcome, l Layout) bool {
	w := Read(d.rows).End(Begin(id, "rebalance", "", "a test"), outcome, l, d.now())
	d.write(w)
	return len(w.Added) > 0
}

// change writes a plan with one change, of lrp-1.
func (d *desk) change(r *Run, operation, chassis string, before, after []schedule.Candidate) {
	c := schedule.Change{Group: "lrp-1", Before: before, After: after}
	d.write(Writing{Added: []string{r.Batch(schedule.Plan{Operation: operation, Chassis: chassis}, []schedule.Change{c}, 0,
		d.now())}})
}

func hosted(by ...string) Layout { return Layout{Gateways: map[string][]string{"lrp-1": by}} }

func refusal(t *testing.T, err error) string {
	t.Helper()
	var refused *answer.RefusedError
	require.ErrorAs(t, err, &refused)
	return string(refused.Status.Reason) + " " + refused.Status.Metadata["finding"]
}

func TestLayout_of_versions(t *testing.T) {
	t.Parallel()
	d := &desk{rows: map[string]string{}}
	layout := func(v Version) string {
		l, err := Read(d.rows).Layout(v)
		if err != nil {
			return refusal(t, err)
		}
		return strings.Join(l.Gateways["lrp-1"], " ")
	}
	const missing = "PreconditionFailed REVISION_MISSING"
	assert.Equal(t, missing, layout(Last))
	require.True(t, d.tag("g1", Failed, hosted("a")))
	assert.Equal(t, "a", layout(Last))
	assert.Equal(t, missing, layout(Successful))
	require.True(t, d.tag("g2", Succeeded, hosted("a", "b")))
	assert.False(t, d.tag("g3", Succeeded, hosted("a", "b")), "nothing is written twice (R17)")
	require.True(t, d.tag("g4", Failed, hosted("b")))
	assert.Equal(t, "b", layout(Last))
	assert.Equal(t, "a b", layout(Successful))

	// One revision may have both tags.
	require.True(t, d.tag("g5", Succeeded, hosted("b")))
	j := Read(d.rows)
	tagged := j.tagged()
	assert.Equal(t, tagged[0].end.Revision, tagged[1].end.Revision)
	assert.Equal(t, []Outcome{Succeeded, Failed}, []Outcome{tagged[0].end.Outcome, tagged[1].end.Outcome})
	assert.Equal(t, "last-site-action, successful-site-action", j.names(tagged[0]))
	assert.Empty(t, j.names(tagged[1]))
	assert.Equal(t, "b", layout("g4"))
	assert.Equal(t, "a b", layout("g2"))
	assert.Equal(t, missing, layout("g3"))
}

func TestEnd_bounds_journal_and_keeps_versions(t *testing.T) {
	t.Parallel()
	d := &desk{rows: map[string]string{}}
	plan := func(id string, outcome Outcome, l Layout) {
		run := Begin(id, "rebalance", "", "a test")
		d.change(run, "rebalance", "", ranks("a", "b"), ranks("b", "a"))
		d.write(Read(d.rows).End(run, outcome, l, d.now()))
	}
	plan("good", Succeeded, hosted("good"))
	for n := range 2 * keptEntries {
		plan(fmt.Sprintf("g%d", n), Failed, hosted(fmt.Sprint(n%10)))
		j := Read(d.rows)
		require.LessOrEqual(t, len(j.Plans()), keptEntries)
		require.LessOrEqual(t, len(j.bodies), keptBodies)
		require.LessOrEqual(t, len(d.rows), 2*keptEntries+1+keptBodies)
		for _, v := range []Version{Last, Successful} {
			_, err := j.Layout(v)
			require.NoError(t, err)
		}
	}
	j := Read(d.rows)
	tagged := j.tagged()
	good := tagged[len(tagged)-1]
	assert.Equal(t, "good", good.ID)
	assert.Zero(t, good.Gateways, "its changes are too old, its layout is not")
	assert.True(t, j.kept(tagged[1]))
	assert.False(t, j.kept(tagged[5]))

	for n := range 2 * keptEntries { // operations without a tag, like those of agents
		run := Begin(fmt.Sprint("a", n), "reschedule", "", "a test")
		d.change(run, "reschedule", "", ranks("a"), ranks("b"))
		d.write(Read(d.rows).Finish(run.ID))
		require.LessOrEqual(t, len(Read(d.rows).Plans()), keptEntries)
	}

	// A cordon does not need another body.
	before := len(j.bodies)
	d.tag("cordoned", Succeeded, hosted("9").WithCordon("c1", true))
	d.tag("again", Succeeded, hosted("9").WithCordon("c2", true))
	assert.LessOrEqual(t, len(Read(d.rows).bodies), before)
}

func TestLayout_damaged_is_missing(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(*desk){
		"no tag": func(d *desk) { delete(d.rows, "1-0") },
		"gone":   func(d *desk) { delete(d.rows, "1-1") },
		"damaged": func(d *desk) {
			d.rows["1-1"] = text(body{BodyID: hosted("a").bodyID(), Packed: hosted("b").pack()})
		},
	} {
		d := &desk{rows: map[string]string{}}
		d.tag("g1", Succeeded, hosted("a"))
		harm(d)
		_, err := Read(d.rows).Layout(Successful)
		assert.Equal(t, "PreconditionFailed REVISION_MISSING", refusal(t, err), name)
	}
}

func TestInterrupted_names_planner(t *testing.T) {
	t.Parallel()
	e := Entry{ID: "g1", Operation: "drain", By: "root@host", Left: 2}
	assert.Equal(t, "warning PLAN_UNFINISHED g1 Value=drain Count=2 Reasons=PLANNED_BY root@host",
		findingtest.Brief(e.Interrupted()))
}

func TestCheckReview(t *testing.T) {
	t.Parallel()
	plan := schedule.Plan{
		Operation: "rebalance",
		Changes:   []schedule.Change{{Group: "lrp-1", After: []schedule.Candidate{{Chassis: "b", Priority: 1}}}},
	}
	other := schedule.Plan{Operation: "rebalance"}
	l := hosted("a", "b")
	d := &desk{rows: map[string]string{}}
	since := func(id string, l Layout, p schedule.Plan) (operations int) {
		refused := Read(d.rows).CheckReview(id, l, p)
		if refused == nil {
			return -1
		}
		operations = len(refused.Details.MessageList)
		code := "PLAN_CHANGED"
		if operations > 0 {
			code = "OPERATIONS_SINCE_REVIEW"
		}
		assert.Equal(t, "Conflict "+code, refusal(t, &answer.RefusedError{Status: *refused}))
		return operations
	}
	first := Read(d.rows).ReviewID(l, plan)
	assert.Regexp(t, "^0-[0-9a-f]{12}$", first, "without any operation there is revision 0")
	assert.Equal(t, -1, since(first, l, plan))
	d.tag("g1", Succeeded, l)
	assert.Equal(t, 1, since(first, l, plan))

	id := Read(d.rows).ReviewID(l, plan)
	assert.Equal(t, -1, since(id, l, plan))
	assert.Equal(t, 0, since(id, hosted("b"), plan))
	assert.Equal(t, 0, since(id, l, other))
	d.tag("g2", Failed, l) // this changed nothing
	assert.Equal(t, -1, since(id, l, plan))

	// A change that is reverted counts as in between, too.
	run := Begin("g3", "rebalance", "", "a test")
	d.change(run, "rebalance", "", ranks("a", "b"), ranks("b", "a"))
	d.change(run, "rebalance", "", ranks("b", "a"), ranks("a", "b"))
	assert.Equal(t, 1, since(id, l, plan))
	d.tag("g4", Succeeded, l.WithCordon("c1", true))
	assert.Equal(t, 2, since(id, l, plan))

	// So does one after which the layout is as before.
	id = Read(d.rows).ReviewID(l.WithCordon("c1", true), plan)
	run = Begin("g5", "rebalance", "", "a test")
	d.change(run, "rebalance", "", ranks("a", "b"), ranks("b", "a"))
	d.write(Read(d.rows).End(run, Failed, l.WithCordon("c1", true), d.now()))
	assert.Equal(t, 1, since(id, l.WithCordon("c1", true), plan))
	for _, wrong := range []string{"", "g1", "g1-", "-1", "g1-1-1"} {
		refused := Read(d.rows).CheckReview(wrong, l, plan)
		assert.Equal(t, "BadRequest REVIEW_INVALID", refusal(t, &answer.RefusedError{Status: *refused}), wrong)
	}
}

// The newest plan is kept whatever its size, an older one only if both are small enough.
func TestFinish_keeps_newest_plan(t *testing.T) {
	t.Parallel()
	d := &desk{rows: map[string]string{}}
	plan := func(id string, gateways int) {
		changes := make([]schedule.Change, gateways)
		for i := range changes {
			changes[i].Group = fmt.Sprint(i)
		}
		d.write(Writing{Added: []string{Begin(id, "", "", "a test").Batch(schedule.Plan{}, changes, 0, d.now())}})
		d.write(Read(d.rows).Finish())
	}
	kept := func() (ids []string) {
		for _, e := range Read(d.rows).Entries {
			ids = append(ids, e.ID)
		}
		return ids
	}
	plan("g1", keptGateways)
	plan("g2", 1)
	assert.Equal(t, []string{"g2"}, kept())
	plan("g3", keptGateways-1)
	assert.Equal(t, []string{"g3", "g2"}, kept())
	plan("g4", keptGateways+1)
	assert.Equal(t, []string{"g4"}, kept())
}

// Operations that change no gateway, such as cordons, do not crowd out plans: each kind has its own bound.
func TestEnd_bounds_operations_without_changes(t *testing.T) {
	t.Parallel()
	d := &desk{rows: map[string]string{}}
	d.change(Begin("g0", "rebalance", "", "a test"), "rebalance", "", ranks("a", "b"), ranks("b", "a"))
	for n := range keptEntries + 5 {
		require.True(t, d.tag(fmt.Sprintf("g%d", 1+n), Succeeded, hosted("a").WithCordon("c1", n%2 == 0)))
	}
	j := Read(d.rows)
	assert.Len(t, j.Entries, 1+keptEntries)
	require.Len(t, j.Plans(), 1)
	assert.Equal(t, "g0", j.Plans()[0].ID)
}

// ranks returns candidates, best first.
func ranks(chassis ...string) (all []schedule.Candidate) {
	for i, c := range chassis {
		all = append(all, schedule.Candidate{Chassis: c, Priority: len(chassis) - i})
	}
	return all
}

// Drains of several chassis share the candidates before the first of them, as long as nothing else changes the group.
func TestDrained(t *testing.T) {
	t.Parallel()
	type change struct {
		run, operation, chassis string
		before, after           []schedule.Candidate
	}
	abc, bca, cba, cab := ranks("a", "b", "c"), ranks("b", "c", "a"), ranks("c", "b", "a"), ranks("c", "a", "b")
	for name, test := range map[string]struct {
		changes       []change
		before, after map[string][]schedule.Candidate
	}{
		"one drain": {
			[]change{{"g1", "drain", "a", abc, bca}},
			map[string][]schedule.Candidate{"a": abc},
			map[string][]schedule.Candidate{"a": bca},
		},
		"a second drain keeps the base": {
			[]change{{"g1", "drain", "a", abc, bca}, {"g2", "drain", "b", bca, cab}},
			map[string][]schedule.Candidate{"a": abc, "b": abc},
			map[string][]schedule.Candidate{"a": cab, "b": cab},
		},
		"an undrain keeps the base": {
			[]change{{"g1", "drain", "a", abc, bca}, {"g2", "drain", "b", bca, cba}, {"g3", "undrain", "a", cba, cab}},
			map[string][]schedule.Candidate{"a": abc, "b": abc},
			map[string][]schedule.Candidate{"a": cab, "b": cab},
		},
		"a drain that continues": {
			[]change{{"g1", "drain", "a", abc, bca}, {"g1", "drain", "a", bca, cba}},
			map[string][]schedule.Candidate{"a": abc},
			map[string][]schedule.Candidate{"a": cba},
		},
		"a rebalancing came between": {
			[]change{{"g1", "drain", "a", abc, bca}, {"g2", "rebalance", "", bca, cba}},
			map[string][]schedule.Candidate{"a": abc},
			map[string][]schedule.Candidate{"a": nil},
		},
		"a rebalancing came between two drains": {
			[]change{{"g1", "drain", "a", abc, bca}, {"g2", "rebalance", "", bca, cba}, {"g3", "drain", "c", cba, bca}},
			map[string][]schedule.Candidate{"a": abc, "c": cba},
			map[string][]schedule.Candidate{"a": nil, "c": bca},
		},
		"another client came between": {
			[]change{{"g1", "drain", "a", abc, bca}, {"g2", "drain", "a", cab, cba}},
			map[string][]schedule.Candidate{"a": cab},
			map[string][]schedule.Candidate{"a": cba},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, runs := &desk{rows: map[string]string{}}, map[string]*Run{}
			for _, c := range test.changes {
				if runs[c.run] == nil {
					runs[c.run] = Begin(c.run, c.operation, c.chassis, "a test")
					runs[c.run].Continue(Read(d.rows).Drained())
				}
				d.change(runs[c.run], c.operation, c.chassis, c.before, c.after)
			}
			drained := Read(d.rows).Drained()
			assert.Len(t, drained, len(test.before))
			for chassis, before := range test.before {
				assert.Equal(t, []schedule.AppliedChange{{Group: "lrp-1", Before: before, After: test.after[chassis]}},
					drained[chassis], chassis)
				d.write(Read(d.rows).Forget(chassis))
			}
			assert.Empty(t, Read(d.rows).Drained())
		})
	}
}
