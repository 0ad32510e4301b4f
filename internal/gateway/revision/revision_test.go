package revision

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// someState is a state of so many gateways on 6 chassis, and cordons.
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

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		s, cordons := someState(r, 1+r.IntN(8))
		before := Of(s, cordons)
		s.Groups, cordons = slices.Clone(s.Groups), slices.Clone(cordons)
		r.Shuffle(len(s.Groups), func(i, j int) { s.Groups[i], s.Groups[j] = s.Groups[j], s.Groups[i] })
		r.Shuffle(len(cordons), func(i, j int) { cordons[i], cordons[j] = cordons[j], cordons[i] })
		for i := range s.Groups {
			all := slices.Clone(s.Groups[i].Candidates)
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for n := range all { // other priorities of the same order
				all[n].Priority = 2*all[n].Priority + 1
			}
			s.Groups[i].Candidates = all
		}
		require.Equal(t, before.id(), Of(s, cordons).id())
		require.Empty(t, Diff(before, Of(s, cordons)))
	}
}

func TestAnyChangeOfARankOrACordonIsAnotherRevision(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 1))
	for range 500 {
		s, cordons := someState(r, 1+r.IntN(8))
		before := Of(s, cordons)
		after := before.WithPlan(schedule.Plan{})
		name := fmt.Sprintf("lrp-%d", r.IntN(len(s.Groups)))
		ranks := slices.Clone(after.Gateways[name])
		switch what := r.IntN(6); {
		case what == 0:
			chassis := fmt.Sprintf("c%d", r.IntN(6))
			after = after.WithCordon(chassis, !slices.Contains(cordons, chassis))
		case what == 1:
			delete(after.Gateways, name)
		case what == 2:
			after.Gateways["lrp-new"] = nil
		case what == 3 || len(ranks) == 0:
			after.Gateways[name] = append(ranks, "c9")
		case what == 4 || len(ranks) == 1:
			after.Gateways[name] = ranks[1:]
		default:
			i := r.IntN(len(ranks) - 1)
			ranks[i], ranks[i+1] = ranks[i+1], ranks[i]
			after.Gateways[name] = ranks
		}
		require.NotEqual(t, before.id(), after.id())
		require.Len(t, Diff(before, after), 1)
	}
}

// What is concatenated can't be taken for something else.
func TestNamesDoNotRunTogether(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, l := range []Layout{
		{},
		{Cordons: []string{"a"}},
		{Gateways: map[string][]string{"a": nil}},
		{Gateways: map[string][]string{"a": {"b"}}},
		{Gateways: map[string][]string{"a": nil, "b": nil}},
		{Gateways: map[string][]string{`a","b`: nil}},
		{Gateways: map[string][]string{"a\n": {"b"}}},
		{Gateways: map[string][]string{"a": {"b,c"}}},
		{Gateways: map[string][]string{"a": {"b", "c"}}},
	} {
		ids[l.id()] = true
	}
	assert.Len(t, ids, 9)
	assert.Equal(t, "[\"a\",\"b\"]\n", Layout{Gateways: map[string][]string{"a": {"b"}}}.body())
	assert.Regexp(t, "^r[0-9a-f]{12}$", Layout{}.id())
}

func TestBodyIsUnpackedAsItWas(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for range 20 {
		s, _ := someState(r, r.IntN(20))
		l := Of(s, nil)
		gateways, err := unpack(pack(l.body()))
		require.NoError(t, err)
		require.Equal(t, l.id(), Layout{Gateways: gateways}.id())
	}
	for _, wrong := range []string{"", "!", "AAAA", pack("no list\n"), pack("[]\n")} {
		_, err := unpack(wrong)
		require.ErrorContains(t, err, "cannot unpack a layout", wrong)
	}
}

// What everybody who follows NB has a copy of, with names as Neutron gives them.
func TestLayoutOfTenThousandGatewaysTakesLessThanAMegabyte(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	uuid := func() string {
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), r.IntN(1<<16), r.Int64N(1<<48))
	}
	var chassis []string
	for range 200 {
		chassis = append(chassis, uuid())
	}
	l := Layout{Gateways: map[string][]string{}}
	for range 10000 {
		var ranks []string
		for range 5 {
			ranks = append(ranks, chassis[r.IntN(len(chassis))])
		}
		l.Gateways["lrp-"+uuid()] = ranks
	}
	packed := pack(l.body())
	t.Logf("%d bytes, packed %d", len(l.body()), len(packed))
	assert.Less(t, len(packed), 1<<20)
}

// noon is when the tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// desk is what stands in a database.
type desk struct {
	rows, ids map[string]string
	next      int
}

// tag writes that an operation has ended with a layout, and says whether anything was written.
func (d *desk) tag(id string, outcome Outcome, l Layout) bool {
	d.next++
	w := Read(d.rows, d.ids).Tag(Tag{ID: id, Operation: "rebalance", By: "a test", At: noon.Add(time.Duration(d.next) * time.Minute), Outcome: outcome}, l)
	for key, value := range w.Put {
		d.ids[key] = value
	}
	for n, text := range w.Added {
		d.rows[fmt.Sprintf("%d-%d", d.next, n)] = text
	}
	for _, uuid := range w.Dropped {
		delete(d.rows, uuid)
	}
	return len(w.Added) > 0
}

func hosted(by ...string) Layout { return Layout{Gateways: map[string][]string{"lrp-1": by}} }

func TestPointersNameWhatEndedLastAndWhatEndedWell(t *testing.T) {
	t.Parallel()
	d := &desk{rows: map[string]string{}, ids: map[string]string{}}
	layout := func(v Version) string {
		l, err := Read(d.rows, d.ids).Layout(v)
		if err != nil {
			return err.Error()
		}
		return strings.Join(l.Gateways["lrp-1"], " ")
	}
	assert.Equal(t, "there is no last-site-action: no operation has ended that way yet", layout(Last))
	require.True(t, d.tag("g1", Failed, hosted("a")))
	assert.Equal(t, "a", layout(Last))
	assert.Equal(t, "there is no successful-site-action: no operation has ended that way yet", layout(Successful))
	require.True(t, d.tag("g2", Succeeded, hosted("a", "b")))
	assert.False(t, d.tag("g3", Succeeded, hosted("a", "b")), "it stands there (R17)")
	require.True(t, d.tag("g4", Failed, hosted("b")))
	assert.Equal(t, "b", layout(Last))
	assert.Equal(t, "a b", layout(Successful))

	// One revision may have both tags.
	require.True(t, d.tag("g5", Succeeded, hosted("b")))
	b := Read(d.rows, d.ids)
	assert.Equal(t, b.Tags[0].Revision, b.Tags[1].Revision)
	assert.Equal(t, []Outcome{Succeeded, Failed}, []Outcome{b.Tags[0].Outcome, b.Tags[1].Outcome})
	assert.Equal(t, "last-site-action, successful-site-action", b.names(b.Tags[0]))
	assert.Empty(t, b.names(b.Tags[1]))
	assert.Equal(t, "b", layout(Version(hosted("b").id())))
	assert.Equal(t, "there is no r0: none of the revisions that are kept has this ID", layout("r0"))
}

func TestWhatIsKeptIsBoundedAndThePointersAreKept(t *testing.T) {
	t.Parallel()
	d := &desk{rows: map[string]string{}, ids: map[string]string{}}
	d.tag("good", Succeeded, hosted("good"))
	d.rows["junk"] = "junk"
	for n := range 2 * keptTags {
		d.tag(fmt.Sprintf("g%d", n), Failed, hosted(fmt.Sprint(n%10)))
		b := Read(d.rows, d.ids)
		require.LessOrEqual(t, len(b.Tags), keptTags+1)
		require.LessOrEqual(t, len(b.bodies), keptBodies)
		require.LessOrEqual(t, len(d.rows), keptTags+1+keptBodies)
		for _, v := range []Version{Last, Successful} {
			_, err := b.Layout(v)
			require.NoError(t, err)
		}
	}
	b := Read(d.rows, d.ids)
	assert.Equal(t, "good", b.Tags[len(b.Tags)-1].ID)
	assert.True(t, b.kept(b.Tags[1]))
	assert.False(t, b.kept(b.Tags[5]))
	assert.NotContains(t, d.rows, "junk")

	// A cordon is not another body.
	before := len(b.bodies)
	d.tag("cordoned", Succeeded, hosted(b.Tags[0].ID).WithCordon("c1", true))
	d.tag("again", Succeeded, hosted(b.Tags[0].ID).WithCordon("c2", true))
	assert.LessOrEqual(t, len(Read(d.rows, d.ids).bodies), before)
}

func TestRevisionThatIsDamagedOrGoneIsMissing(t *testing.T) {
	t.Parallel()
	for why, harm := range map[string]func(*desk){
		"the record of operation g1 is gone": func(d *desk) { delete(d.rows, "1-0") },
		"the layout of operation g1 is gone": func(d *desk) { delete(d.rows, "1-1") },
		"the layout of operation g1 is damaged": func(d *desk) {
			d.rows["1-1"] = text(row{BodyID: bodyID(hosted("a").body()), Packed: pack(hosted("b").body())})
		},
	} {
		d := &desk{rows: map[string]string{}, ids: map[string]string{}}
		d.tag("g1", Succeeded, hosted("a"))
		harm(d)
		_, err := Read(d.rows, d.ids).Layout(Successful)
		var missing *MissingError
		require.ErrorAs(t, err, &missing)
		assert.Equal(t, why, missing.Why)
	}
}

func TestReviewNamesWhatHasComeInBetween(t *testing.T) {
	t.Parallel()
	plan := schedule.Plan{Operation: "rebalance", Changes: []schedule.Change{{Group: "lrp-1", After: []schedule.Candidate{{Chassis: "b", Priority: 1}}}}}
	other := schedule.Plan{Operation: "rebalance"}
	op := func(id string) Operation { return Operation{ID: id, Name: "cordon", By: "a test", At: noon} }
	before := []Operation{op("g2"), op("g1")}
	l := hosted("a", "b")
	r, err := ParseReview(NewReview(l, before, plan).String())
	require.NoError(t, err)
	assert.True(t, r.Since(l, before, plan).None())

	since := r.Since(l.WithCordon("c1", true), append([]Operation{op("g4"), op("g3")}, before...), plan)
	assert.Equal(t, []Operation{op("g4"), op("g3")}, since.Operations)
	assert.Equal(t, "2 operations have changed the layout since the plan was reviewed", since.text())
	// There and back again is in between, too.
	assert.Equal(t, "1 operation has changed the layout since the plan was reviewed", r.Since(l, append([]Operation{op("g3")}, before...), plan).text())
	assert.Contains(t, r.Since(hosted("b"), before, plan).text(), "by another client of the Northbound database")
	assert.Contains(t, r.Since(l, before, other).text(), "the plan is another one now")

	// Without any operation there is revision 0.
	r, err = ParseReview(NewReview(l, nil, plan).String())
	require.NoError(t, err)
	assert.Equal(t, "0", r.Operation)
	assert.Len(t, r.Since(l, before, plan).Operations, 2)
	for _, wrong := range []string{"", "r1", "r1-g1", "r1--1", "x1-g1-1", "r1-g1-1-1", "r1-g1-"} {
		_, err := ParseReview(wrong)
		require.Error(t, err, wrong)
	}
}

func TestOperationThatRanSeveralTimesIsNamedByItsRuns(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	b := Book{Tags: []Tag{
		{ID: "t4", Operation: "rebalance", At: at(40), Revision: "r4"},
		{ID: "t3", Operation: "reschedule", At: at(30), Revision: "r2"}, // changed nothing
		{ID: "t2", Operation: "drain", Node: "c1", By: "x", Begun: at(10), At: at(20), Revision: "r2"},
		{ID: "t1", Operation: "cordon", Node: "c2", By: "x", Begun: at(5), At: at(5), Revision: "r1"},
	}}
	runs := []Operation{
		{ID: "t4", Name: "rebalance", At: at(39)}, {ID: "g2", Name: "drain", Node: "c1", By: "x", At: at(12)}, {ID: "g1", Name: "drain", Node: "c1", By: "the agent", At: at(11)},
	}
	var ids []string
	for _, o := range b.Operations(runs) {
		ids = append(ids, o.ID)
	}
	assert.Equal(t, []string{"t4", "g2", "g1", "t1"}, ids)
	assert.Equal(t, "drain c1 by x, 2026-03-01T12:12:00Z", b.Operations(runs)[1].text())
}
