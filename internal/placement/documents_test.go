package placement_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
	"github.com/ovn-central/ovn-central-operator/internal/placement"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

// Programs read these documents: what is in them stays, by name and by kind.
func TestDocumentsForPeopleAndForPrograms(t *testing.T) {
	t.Parallel()
	cloud := placement.Compose(northbound(), southbound())
	cloud.State.Chassis[1].Silent = false
	taken := []gateway.Taken{
		{Group: "lrp-1", Storage: gateway.GatewayChassis, Before: []gateway.Candidate{{Chassis: "c1", Priority: 1}}, After: cloud.State.Groups[0].Candidates},
		{
			Group: "neutron-R2", Storage: gateway.HAChassisGroup,
			Before: []gateway.Candidate{{Chassis: "c2", Priority: 2}, {Chassis: "c1", Priority: 1}}, After: cloud.State.Groups[1].Candidates,
		},
	}
	at := time.Date(2026, 11, 20, 3, 15, 7, 0, time.UTC)
	one := placement.Entry{
		ID: "g5c0f1b7e", At: at, Operation: "rebalance", By: "ovn-central/1, action 12", Gateways: 2, Moves: 1, Left: 30, Added: []string{"c2"}, Changes: taken,
	}
	list := []placement.Entry{one, {ID: "g90a3d2e4", At: at.Add(-time.Hour), Operation: "reschedule", By: "ubuntu@admin", Gateways: 12}}
	list[0].Changes = nil
	for name, document := range map[string]interface{ Text() string }{
		"status":      gateway.Look(cloud.State, gateway.Options{}),
		"plan":        gateway.Reschedule(cloud.State, gateway.Options{}),
		"rebalance":   gateway.Rebalance(cloud.State, gateway.Options{AllowNewCandidates: true}),
		"revert":      gateway.Revert(cloud.State, gateway.Options{}, taken),
		"history":     placement.History{Plans: list, Problems: []gateway.Problem{}},
		"history-one": placement.History{Plans: []placement.Entry{one}, Problems: []gateway.Problem{{Where: "0f7a", Text: "can't be read"}}},
		"no-history":  placement.History{Plans: []placement.Entry{}, Problems: []gateway.Problem{}},
	} {
		goldentest.Equal(t, name+".txt", document.Text())
		yaml, err := render.YAML(document)
		require.NoError(t, err)
		goldentest.Equal(t, name+".yaml", yaml+"\n")
		json, err := render.JSON(document)
		require.NoError(t, err)
		goldentest.Equal(t, name+".json", json+"\n")
	}
	short := placement.History{Plans: []placement.Entry{one}}.Shortened(1)
	assert.Contains(t, short.Text(), "  … and 1 more\n")
	assert.Len(t, one.Changes, 2, "the whole is not touched")
}
