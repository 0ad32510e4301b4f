package observe_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

const (
	nbFirst  raft.ID = "a1000000-0000-4000-8000-000000000000"
	nbSecond raft.ID = "a2000000-0000-4000-8000-000000000000"
	nbThird  raft.ID = "a3000000-0000-4000-8000-000000000000"
	sbFirst  raft.ID = "b1000000-0000-4000-8000-000000000000"
	sbSecond raft.ID = "b2000000-0000-4000-8000-000000000000"
)

// Each database lists the replaced clusters of both databases, and no present one.
func TestSuperseded_each_database_has_both(t *testing.T) {
	present := map[ovndb.Database]raft.ID{ovndb.NB: nbThird, ovndb.SB: sbSecond}
	superseded := map[ovndb.Database][]raft.ID{ovndb.NB: {nbFirst, nbSecond}, ovndb.SB: {sbFirst}}
	for _, d := range ovndb.Databases() {
		ids := observe.SupersededDrift(d, present, superseded, nil)
		assert.Empty(t, observe.SupersededDrift(d, present, superseded, ids), "recorded IDs are not written again")
		answers := observe.SupersededAnswers("10.0.0.2", d, present[d], ids)
		for _, about := range ovndb.Databases() {
			for _, given := range superseded[about] {
				assert.NotEmpty(t, recovery.Superseded(given, answers[about]), "%s, asked for %s", given, d)
			}
			assert.Empty(t, recovery.Superseded(present[about], answers[about]), "%s, asked for %s", about, d)
		}
	}
}

func TestSupersededDrift(t *testing.T) {
	present := map[ovndb.Database]raft.ID{ovndb.NB: nbSecond, ovndb.SB: sbSecond}
	nb, sb := map[ovndb.Database][]raft.ID{ovndb.NB: {nbFirst}}, map[ovndb.Database][]raft.ID{ovndb.SB: {sbFirst}}
	own, other := observe.SupersededKey, observe.ClustersKey(ovndb.SB)
	of := func(ids ...raft.ID) string { return observe.FormatIDs(ids) }
	for name, tt := range map[string]struct {
		superseded map[ovndb.Database][]raft.ID
		ids, want  map[string]string
	}{
		"none replaced":        {nil, map[string]string{"other": "x"}, map[string]string{}},
		"none replaced, noted": {nil, map[string]string{own: of(nbThird)}, map[string]string{}},
		"own, noted":           {nb, map[string]string{own: of(nbThird, nbFirst)}, map[string]string{}},
		"own, not noted":       {nb, map[string]string{own: of(nbSecond)}, map[string]string{own: of(nbFirst)}},
		"other, not noted":     {sb, nil, map[string]string{other: of(sbFirst, sbSecond)}},
		"other, replaced again": {
			sb, map[string]string{other: of(sbFirst)}, map[string]string{other: of(sbFirst, sbSecond)},
		},
		"other, noted":             {sb, map[string]string{other: of(sbFirst, sbSecond)}, map[string]string{}},
		"other, noted by a person": {sb, map[string]string{other: "x"}, map[string]string{other: of(sbFirst, sbSecond)}},
	} {
		assert.Equal(t, tt.want, observe.SupersededDrift(ovndb.NB, present, tt.superseded, tt.ids), name)
	}
}

// A list that is too short, or has its last cluster twice, replaces nothing.
func TestSuperseded_present_cluster_is_never_listed(t *testing.T) {
	for _, text := range []string{"", string(nbFirst), string(nbFirst) + " " + string(nbFirst), "x " + string(nbFirst)} {
		answers := observe.SupersededAnswers(
			"10.0.0.2", ovndb.SB, sbFirst, map[string]string{observe.ClustersKey(ovndb.NB): text},
		)
		assert.Empty(t, recovery.Superseded(nbFirst, answers[ovndb.NB]), text)
	}
}

func TestParseMark(t *testing.T) {
	at := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	m := observe.ParseMark(map[string]string{
		observe.RecoveryKey: `{"at":"2026-11-20T18:00:00Z","given-up":["ovn-central/1"]}`,
	})
	assert.Equal(t, observe.Mark{At: at, GivenUp: []string{"ovn-central/1"}}, m)
	for _, text := range []string{"", "{", "[]", `{"at":7}`} {
		assert.Zero(t, observe.ParseMark(map[string]string{observe.RecoveryKey: text}), text)
	}
}

// R5: a member that seems down may be part of another unit's change during the observation.
func TestR5_view_names_unit_of_change(t *testing.T) {
	now := time.Now()
	held := lease.Record{Term: 6}.Taken("ovn-central/1", 15*time.Second)
	held.At = now.Add(-20 * time.Second).Unix()
	abandoned := held
	abandoned.At = now.Add(-time.Minute).Unix()
	of := func(r lease.Record) map[string]string { return map[string]string{observe.LockKey: r.String()} }
	free := of(lease.Record{Term: 6})
	tests := map[string]struct {
		before, after map[string]string
		by            string
	}{
		"no lock yet":                     {map[string]string{}, map[string]string{}, ""},
		"no unit holds it":                {free, free, ""},
		"held all the time":               {of(held), of(held.Renewed()), "ovn-central/1"},
		"taken meanwhile":                 {free, of(held), "ovn-central/1"},
		"given back meanwhile":            {of(held), of(held.Released()), "ovn-central/1"},
		"taken and given back":            {free, of(held.Released()), "another unit"},
		"its holder is gone for a minute": {of(abandoned), of(abandoned), ""},
		"of a version that says no time": {
			of(lease.Record{Holder: "ovn-central/1", Term: 7, TTLSeconds: 15}),
			of(lease.Record{Holder: "ovn-central/1", Term: 7, TTLSeconds: 15}), "",
		},
		"of a clock that is far ahead": {of(ahead(held, now)), of(ahead(held, now)), ""},
		"not to be read at first":      {nil, of(held.Released()), ""},
		"unreadable_afterwards":        {free, nil, ""},
		"damaged": {
			map[string]string{observe.LockKey: "{"}, map[string]string{observe.LockKey: "{"}, "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.by, observe.ChangedBy(test.before, test.after, now)) })
	}
}

func ahead(r lease.Record, now time.Time) lease.Record {
	r.At = now.Add(time.Hour).Unix()
	return r
}
