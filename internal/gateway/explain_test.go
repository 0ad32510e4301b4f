package gateway_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a text with testdata/NAME.txt.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}

func TestPlansAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	third := two(6, 6)
	third.Chassis = append(third.Chassis, chassis("c3", "provnet1"))
	balanced := applied(third, gateway.Reschedule(third, gateway.Options{}))

	odd := gateway.State{
		Chassis: []gateway.Chassis{
			chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet2"),
			{Name: "c4", Networks: []string{"provnet1"}},
			{Name: "c5", Gateway: true, Networks: []string{"provnet1"}, Silent: true},
		},
		Groups: []gateway.Group{hosted(0, "gone", "c1"), hosted(1, "c3"), hostedIn("provnet9", 2), hosted(3, "c5", "c1", "c2"), hostedIn("", 4, "c1")},
	}
	odd.Groups[0].Candidates[0].Priority = 1 // both have it

	for name, p := range map[string]gateway.Plan{
		"nothing":           gateway.Rebalance(two(3, 2), gateway.Options{}),
		"third-chassis":     gateway.Reschedule(third, gateway.Options{}),
		"rebalance":         gateway.Rebalance(balanced, gateway.Options{}),
		"rebalance-bounded": gateway.Rebalance(balanced, gateway.Options{MaxMoves: 2}),
		"odd":               gateway.Reschedule(odd, gateway.Options{Networks: []string{"provnet1", "provnet7"}}),
	} {
		golden(t, name, p.Text())
	}
	odd.Groups[3].Ports[0].Active = "c2"
	golden(t, "status", gateway.Look(odd, gateway.Options{}).Text())
	golden(t, "status-empty", gateway.Look(gateway.State{}, gateway.Options{}).Text())
}
