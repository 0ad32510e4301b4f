package maintenance

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func (a Admission) names() (all []string) {
	for _, c := range a.New {
		all = append(all, c.Name)
	}
	return all
}

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
	note := func(schedule.Chassis) Note { return Note{By: "u/0, agent", Reason: NewChassis} }

	begin := Admit(ids, s)
	assert.False(t, begin.Empty())
	assert.Equal(t, []string{"g1", "g2"}, begin.Known, "they were there")
	require.Empty(t, begin.New)
	write(begin.Change(note))
	require.True(t, Admit(ids, s).Empty(), "R17")
	assert.Empty(t, ParseRecords(ids).Cordons)

	s.Chassis[2].Gateway = true
	s.Chassis = append(s.Chassis, gateway("hosts"), gateway("arrived"))
	s.Groups = []schedule.Group{{Name: "lrp", Candidates: []schedule.Candidate{{Chassis: "hosts", Priority: 1}}}}
	next := Admit(ids, s)
	assert.Equal(t, []string{"hosts"}, next.Known, "something other than the host has made it a candidate")
	assert.Equal(t, []string{"compute", "arrived"}, next.names())
	assert.Equal(t, map[string]string{
		"ovn-central:maintenance/hosts": "true", "ovn-central:maintenance/compute": "true",
		"ovn-central:maintenance/arrived": "true",
	}, next.Lacks())
	write(next.Change(note))
	require.True(t, Admit(ids, s).Empty(), "R17")
	records := ParseRecords(ids)
	assert.Equal(t, Note{By: "u/0, agent", Reason: NewChassis}, records.Cordons["arrived"])
	assert.Len(t, records.Cordons, 2)
	assert.Equal(t, []string{}, records.Hosted["arrived"], "what comes to it since goes again")

	write(Uncordon("arrived", Note{By: "a person"}))
	require.True(t, Admit(ids, s).Empty(), "a person has seen it")
	s.Chassis = s.Chassis[:2]
	require.True(t, Admit(ids, s).Empty())
	s.Chassis = append(s.Chassis, gateway("arrived"))
	require.True(t, Admit(ids, s).Empty(), "it was away")
	write(Erase("arrived", ParseRecords(ids)))
	assert.Equal(t, []string{"arrived"}, Admit(ids, s).names(), "it was taken out of the cloud")

	end, ok := EndAdmission(ids)
	require.True(t, ok)
	write(end)
	_, ok = EndAdmission(ids)
	assert.False(t, ok)
	assert.Equal(t, []string{"arrived"}, Admit(ids, s).Known, "it was there when the option was set again")
}
