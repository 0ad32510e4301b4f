package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestClass(t *testing.T) {
	t.Parallel()
	classes := func(s schedule.State) map[schedule.Class]int {
		count := map[schedule.Class]int{}
		for _, c := range schedule.Reschedule(s, schedule.Options{}).Changes {
			for _, r := range c.Rows {
				count[c.Class(r)]++
				assert.Contains(t, schedule.Classes(), c.Class(r))
			}
		}
		return count
	}
	two := []schedule.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1")}
	assert.Equal(t, map[schedule.Class]int{schedule.ClassUnhosted: 2},
		classes(schedule.State{Chassis: two, Groups: []schedule.Group{hostedIn("physnet1", 1)}}))
	assert.Equal(t, map[schedule.Class]int{schedule.ClassIncomplete: 1, schedule.ClassRank: 1},
		classes(schedule.State{Chassis: two, Groups: []schedule.Group{hostedIn("physnet1", 1, "c1")}}))
	replaced := classes(schedule.State{Chassis: two, Groups: []schedule.Group{hostedIn("physnet1", 1, "c1", "c9")}})
	assert.Equal(t, 2, replaced[schedule.ClassReplaced], "%v", replaced)
}

// Conditions counts what Evaluate finds.
func TestConditions(t *testing.T) {
	t.Parallel()
	away := hostedIn("physnet1", 4, "c1", "c2")
	away.Ports[0].Active = "c2"
	lost := hostedIn("physnet1", 5, "c1")
	lost.Kind, lost.Follows, lost.Ports[0].External, lost.Ports[0].Active = schedule.ExternalPorts, "none", true, "c1"
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "physnet1"), chassis("c2", "physnet1")},
		Groups: []schedule.Group{hostedIn("physnet1", 1), hostedIn("physnet1", 2, "c1"), hostedIn("physnet1", 3, "c1", "c2",
			"c9"), away, lost},
	}
	for i := range 3 {
		if s.Groups[i].Candidates != nil {
			s.Groups[i].Ports[0].Active = "c1"
		}
	}
	assert.Equal(t, map[finding.Code]int{
		finding.GatewayUnbound: 1, finding.SingleCandidate: 1, finding.CandidateInvalid: 1, finding.GatewayMisplaced: 1,
		finding.ExternalGatewayUnknown: 1, finding.ExternalUnserved: 0,
	}, schedule.Conditions(s))
	assert.Len(t, schedule.Evaluate(s, schedule.Options{}).Findings, 5)
}
