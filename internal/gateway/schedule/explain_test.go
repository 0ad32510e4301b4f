package schedule_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
)

func TestPlan_texts(t *testing.T) {
	t.Parallel()
	third := two(6, 6)
	third.Chassis = append(third.Chassis, chassis("c3", "provnet1"))
	balanced := applied(third, schedule.Reschedule(third, schedule.Options{}))

	odd := schedule.State{
		Chassis: []schedule.Chassis{
			chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet2"),
			{Name: "c4", Networks: []string{"provnet1"}},
			{Name: "c5", Gateway: true, Networks: []string{"provnet1"}, Unresponsive: true},
		},
		Groups: []schedule.Group{
			hosted(0, "gone", "c1"), hosted(1, "c3"), hostedIn("provnet9", 2),
			hosted(3, "c5", "c1", "c2"), hostedIn("", 4, "c1"),
		},
	}
	odd.Groups[0].Candidates[0].Priority = 1 // both have it

	for name, p := range map[string]schedule.Plan{
		"nothing":           schedule.Rebalance(two(3, 2), schedule.Options{}),
		"third-chassis":     schedule.Reschedule(third, schedule.Options{}),
		"rebalance":         schedule.Rebalance(balanced, schedule.Options{}),
		"rebalance-bounded": schedule.Rebalance(balanced, schedule.Options{MaxMoves: 2}),
		"odd":               schedule.Reschedule(odd, schedule.Options{Networks: []string{"provnet1", "provnet7"}}),
	} {
		goldentest.Equal(t, name+".txt", document.Plan(p))
	}
	odd.Groups[3].Ports[0].Active = "c2"
	goldentest.Equal(t, "status.txt", document.Gateways(schedule.Evaluate(odd, schedule.Options{})))
	goldentest.Equal(t, "status-empty.txt", document.Gateways(schedule.Evaluate(schedule.State{}, schedule.Options{})))
}
