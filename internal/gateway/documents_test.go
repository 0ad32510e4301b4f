package gateway_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
)

// Programs read these documents: names and types stay as they are.
func TestDocuments(t *testing.T) {
	t.Parallel()
	inventory := gateway.BuildInventory(northbound(), southbound())
	inventory.State.Chassis[1].Unresponsive = false
	taken := []schedule.AppliedChange{
		{
			Group: "lrp-1", Storage: schedule.GatewayChassis, Before: []schedule.Candidate{{Chassis: "c1", Priority: 1}},
			After: inventory.State.Groups[0].Candidates,
		},
		{
			Group: "neutron-R2", Storage: schedule.HAChassisGroup,
			Before: []schedule.Candidate{{Chassis: "c2", Priority: 2}, {Chassis: "c1", Priority: 1}},
			After:  inventory.State.Groups[1].Candidates,
		},
	}
	at := time.Date(2026, 11, 20, 3, 15, 7, 0, time.UTC)
	one := journal.Entry{
		ID: "g5c0f1b7e", At: at, Operation: "rebalance", By: "ovn-central/1, action 12", Gateways: 2, Moves: 1, Left: 30,
		Added: []string{"c2"}, Changes: taken,
	}
	list := []journal.Entry{one, {
		ID: "g90a3d2e4", At: at.Add(-time.Hour), Operation: "reschedule", By: "ubuntu@admin",
		Gateways: 12,
	}}
	list[0].Changes = nil
	documents := map[string]any{
		"status":    schedule.Evaluate(inventory.State, schedule.Options{}),
		"plan":      schedule.Reschedule(inventory.State, schedule.Options{}),
		"rebalance": schedule.Rebalance(inventory.State, schedule.Options{AllowNewCandidates: true}),
		"revert":    schedule.Revert(inventory.State, schedule.Options{}, taken),
		"history":   gateway.History{Plans: list},
		"history-one": gateway.History{
			Plans:    []journal.Entry{one},
			Findings: []finding.Finding{finding.New(finding.JournalUnread, finding.Subject{Name: "0f7a"}, finding.Args{})},
		},
		"no-history": gateway.History{Plans: []journal.Entry{}},
	}
	for name, d := range documents {
		goldentest.Equal(t, name+".txt", text(d))
	}
	for _, name := range []string{"status", "rebalance", "history-one", "no-history"} { // the others have no other keys
		goldentest.Document(t, name, document.ForPrograms(documents[name]))
	}
	short := gateway.History{Plans: []journal.Entry{one}}.Shortened(1)
	assert.Contains(t, document.History(short), "  … and 1 more\n")
	assert.Len(t, one.Changes, 2, "the whole is not touched")
}

// S1: of more chassis than fit, those with gateways are shown, the same ones before and after a plan.
func TestShortened_keeps_chassis_with_gateways(t *testing.T) {
	t.Parallel()
	network := func(masters ...int) []schedule.Network {
		var n schedule.Network
		for i, count := range masters {
			n.Hosts = append(n.Hosts, schedule.Host{Chassis: fmt.Sprint("c", i), Masters: count})
		}
		return []schedule.Network{n}
	}
	plan := schedule.Plan{Before: network(0, 0, 3, 0), After: network(0, 1, 2, 0)}.Shortened(2)
	status := schedule.Status{Networks: network(0, 1, 2, 0)}.Shortened(2)
	for _, n := range []schedule.Network{plan.Before[0], plan.After[0], status.Networks[0]} {
		assert.Equal(t, 2, n.Omitted)
		assert.Equal(t, []string{"c1", "c2"}, []string{n.Hosts[0].Chassis, n.Hosts[1].Chassis})
	}
}

func text(d any) string {
	switch d := d.(type) {
	case schedule.Status:
		return document.Gateways(d)
	case schedule.Plan:
		return document.Plan(d)
	}
	return document.History(d.(gateway.History))
}
