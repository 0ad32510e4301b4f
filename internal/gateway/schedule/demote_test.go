package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// 001-2: what a cordoned chassis has come to host since it was cordoned goes, and the chassis comes last there. The
// rest is left alone.
func TestDemote(t *testing.T) {
	t.Parallel()
	one := func(name string, chassis ...string) schedule.Group {
		g := schedule.Group{
			Name: name, Storage: schedule.GatewayChassis,
			Ports: []schedule.Port{{Name: name, Router: "r" + name, Network: "net", Active: chassis[0]}},
		}
		for i, c := range chassis {
			g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: c, Priority: len(chassis) - i})
		}
		return g
	}
	external := func(name, follows string, chassis ...string) schedule.Group {
		g := one(name, chassis...)
		g.Storage, g.Kind, g.Follows, g.Ports = schedule.HAChassisGroup, schedule.ExternalPorts, follows,
			[]schedule.Port{{Name: "bm-" + name, External: true}}
		return g
	}
	s := schedule.State{Groups: []schedule.Group{
		one("stays", "c1", "c2", "c3"), one("came", "c1", "c2", "c3"), one("came-2", "c1", "c2", "c3"), one("came-3", "c1",
			"c2", "c3"), one("backup", "c2", "c1", "c3"),
		external("with-stays", "stays", "c1", "c2", "c3"), external("with-came", "came", "c1", "c2", "c3"),
	}}
	for _, c := range []string{"c1", "c2", "c3"} {
		s.Chassis = append(s.Chassis, schedule.Chassis{
			Name: c, Hostname: c, Gateway: true, Networks: []string{"net"},
			Cordoned: c == "c1",
		})
	}
	p := schedule.Demote(s, "c1", []string{"stays", "with-stays-not-known", "gone"})
	to := map[string][]string{}
	for _, c := range p.Changes {
		to[c.Group] = schedule.Group{Candidates: c.After}.Ranked()
	}
	require.Len(t, to, 4, document.Plan(p))
	for _, name := range []string{"came", "came-2", "came-3", "with-came"} {
		assert.Equal(t, "c1", to[name][2], "%s: %v", name, to[name])
	}
	assert.Equal(t, to["came"], to["with-came"], "external ports go with their router")
	load := map[string]int{}
	for _, name := range []string{"came", "came-2", "came-3"} {
		load[to[name][0]]++
	}
	assert.Equal(t, map[string]int{"c2": 1, "c3": 2}, load, "evenly, with what c2 has")
	assert.Equal(t, schedule.OperationDemote, p.Operation)
	assert.Empty(t, p.Chassis, "nothing is put back by an undrain")

	for i, g := range s.Groups {
		for _, c := range p.Changes {
			if c.Group == g.Name {
				s.Groups[i].Candidates = c.After
			}
		}
	}
	assert.True(t, schedule.Demote(s, "c1", []string{"stays"}).Empty(), "and that once")

	for i := range s.Chassis {
		s.Chassis[i].Unresponsive = true
	}
	s.Groups = []schedule.Group{one("came", "c1", "c2", "c3")}
	p = schedule.Demote(s, "c1", nil)
	assert.True(t, p.Empty(), "R12: no other one could host it")
	assert.Len(t, p.Blocked, 1)
}
