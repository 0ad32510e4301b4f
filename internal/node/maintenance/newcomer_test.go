package maintenance

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// A host can make itself a gateway chassis in SB, and bind ports there, so only NB counts.
func TestAdmit(t *testing.T) {
	t.Parallel()
	gateway := func(name string) schedule.Chassis { return schedule.Chassis{Name: name, Gateway: true} }
	s := schedule.State{
		Chassis: []schedule.Chassis{
			gateway("g1"), gateway("g2"), {Name: "compute"}, {Name: "far", Gateway: true, Remote: true},
		},
	}
	ids := map[string]string{"other": "key"}
	write := func(c Change) {
		maps.Copy(ids, c.Set)
		for _, key := range c.Drop {
			delete(ids, key)
		}
	}
	admit := func() Admission { return Admit(ids, s, true, Note{By: "u/0, agent", Reason: "new"}) }

	assert.False(t, Admit(ids, schedule.State{}, true, Note{}).Empty(), "a chassis that comes later is new")
	begin := admit()
	require.Empty(t, begin.New, "they were there")
	write(begin.Change)
	require.True(t, admit().Empty(), "R17")
	assert.Empty(t, ParseRecords(ids).Cordons)

	s.Chassis[2].Gateway = true
	s.Chassis = append(s.Chassis, gateway("hosts"), gateway("arrived"))
	s.Groups = []schedule.Group{{Name: "lrp", Candidates: []schedule.Candidate{{Chassis: "hosts", Priority: 1}}}}
	next := admit()
	assert.Equal(t, []string{"compute", "arrived"}, next.New,
		"something other than the host has made the third a candidate")
	assert.Equal(t, map[string]string{
		"ovn-central:maintenance/hosts": "true", "ovn-central:maintenance/compute": "true",
		"ovn-central:maintenance/arrived": "true",
	}, next.Lacks)
	write(next.Change)
	require.True(t, admit().Empty(), "R17")
	records := ParseRecords(ids)
	assert.Equal(t, Note{By: "u/0, agent", Reason: "new"}, records.Cordons["arrived"])
	assert.Len(t, records.Cordons, 2)
	assert.Equal(t, []string{}, records.Hosted["arrived"], "what comes to it since goes again")

	write(Uncordon("arrived", Note{By: "a person"}))
	require.True(t, admit().Empty(), "a person has seen it")
	s.Chassis = s.Chassis[:2]
	require.True(t, admit().Empty())
	s.Chassis = append(s.Chassis, gateway("arrived"))
	require.True(t, admit().Empty(), "it was away")
	write(Erase("arrived", ParseRecords(ids)))
	assert.Equal(t, []string{"arrived"}, admit().New, "it was taken out of the cloud")

	end := Admit(ids, s, false, Note{})
	assert.Equal(t, Change{Drop: []string{admitKey}}, end.Change)
	write(end.Change)
	require.True(t, Admit(ids, s, false, Note{}).Empty(), "R17")
	assert.Empty(t, admit().New, "it was there when the option was set again")
	assert.False(t, admit().Empty())
}
