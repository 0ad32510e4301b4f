package journal

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestLayout_ignores_row_order(t *testing.T) {
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
			for n := range all { // other priorities in the same order
				all[n].Priority = 2*all[n].Priority + 1
			}
			s.Groups[i].Candidates = all
		}
		require.Equal(t, before.id(), Of(s, cordons).id())
		require.Empty(t, Diff(before, Of(s, cordons)))
	}
}

func TestLayout_id_changes_with_rank_and_cordon(t *testing.T) {
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

// Names that are equal when concatenated have different IDs.
func TestLayout_id_separates_names(t *testing.T) {
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
	assert.Regexp(t, "^r[0-9a-f]{12}$", Layout{}.id())
}

func TestLayout_pack_and_unpack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for range 20 {
		s, _ := someState(r, r.IntN(20))
		l := Of(s, nil)
		gateways, err := unpack(l.pack())
		require.NoError(t, err)
		require.Equal(t, l.id(), Layout{Gateways: gateways}.id())
	}
	for wrong, want := range map[string]error{
		"": io.ErrUnexpectedEOF, "!": base64.CorruptInputError(0), "AAAA": io.ErrUnexpectedEOF,
	} {
		_, err := unpack(wrong)
		require.ErrorIs(t, err, want, wrong)
	}
}

// Every client that follows NB has a copy of this. The names are as long as Neutron's.
func TestLayout_pack_10000_gateways(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	name := func() string { return fmt.Sprintf("%018x%018x", r.Uint64(), r.Uint64()) }
	chassis := make([]string, 200)
	for i := range chassis {
		chassis[i] = name()
	}
	l := Layout{Gateways: map[string][]string{}}
	for range 10000 {
		var ranks []string
		for range 5 {
			ranks = append(ranks, chassis[r.IntN(len(chassis))])
		}
		l.Gateways["lrp-"+name()] = ranks
	}
	assert.Less(t, len(l.pack()), 1<<20)
}
