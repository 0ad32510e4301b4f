package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// crowded is a state of one gateway with these candidates, best first.
func crowded(storage schedule.Storage, active string, chassis ...string) schedule.State {
	g := bind(hosted(0, chassis...), active)
	g.Name, g.Storage = "g", storage
	return schedule.State{
		Chassis: pool("provnet1", "c1", "c2", "c3", "c4", "c5", "c6", "c7"), Groups: []schedule.Group{g},
	}
}

func TestReschedule_repeated_candidate(t *testing.T) {
	t.Parallel()
	p := schedule.Reschedule(crowded(schedule.HAChassisGroup, "c1", "c1", "c2", "c1", "c3", "c4", "c5"),
		schedule.Options{})
	require.Len(t, p.Changes, 1)
	c := p.Changes[0]
	assert.False(t, c.Interrupts)
	assert.Equal(t, candidates("c1", "c2", "c3", "c4", "c5"), c.After)
	dropped := 0
	for _, r := range c.Rows {
		if r.After == nil {
			dropped++
			assert.Equal(t, "c1", r.Chassis)
			assert.Equal(t, 4, *r.Before)
		}
	}
	assert.Equal(t, 1, dropped)
	mended := crowded(schedule.HAChassisGroup, "c1", "c1", "c2", "c3", "c4", "c5")
	assert.Empty(t, schedule.Reschedule(mended, schedule.Options{}).Changes)
}

func TestDrain_behind_repeated_candidate(t *testing.T) {
	t.Parallel()
	s := crowded(schedule.HAChassisGroup, "c2", "c1", "c1", "c1", "c2")
	s.Chassis[0].Unresponsive = true
	p := schedule.Drain(s, "c2", nil)
	require.Len(t, p.Changes, 1)
	assert.Equal(t, []string{"c1", "c3", "c2"}, order(applied(s, p), "g"))
}

// LP#2139143: a group grew beyond five candidates.
func TestEvaluate_too_many_candidates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		storage schedule.Storage
		active  string
		command string
	}{
		{schedule.HAChassisGroup, "c1", "ovn-nbctl ha-chassis-group-remove-chassis g c7 -- ha-chassis-group-remove-chassis g c6"},
		{schedule.GatewayChassis, "c7", "ovn-nbctl lrp-del-gateway-chassis g c6 -- lrp-del-gateway-chassis g c5"},
	} {
		s := schedule.Evaluate(crowded(test.storage, test.active, "c1", "c2", "c3", "c4", "c5", "c6", "c7"),
			schedule.Options{})
		var found []string
		for _, f := range s.Findings {
			if f.Code == finding.CandidatesTooMany {
				found = append(found, juju.Version{}.Render(f.Remedies[0].Command))
			}
		}
		assert.Equal(t, []string{test.command}, found)
	}
	lxd := crowded(schedule.HAChassisGroup, "c1", "c1", "c2", "c3", "c4", "c5", "c6", "c7")
	lxd.Groups[0].Name, lxd.Groups[0].Owner = "lxd-net49", schedule.Other
	assert.Empty(t, schedule.Evaluate(lxd, schedule.Options{}).Findings, "LXD makes all servers candidates")
}
