package bench

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// One of 200 chassis that host 10,000 gateways is drained on real databases: only its 50 gateways move, the load of the
// others is even, and undrain puts all back. Port_Binding is played, as ovn-northd would take minutes.
func TestDrain_one_of_200_chassis_with_10000_gateways(t *testing.T) {
	t.Parallel()
	nb, sb := databases(t)
	fill(t, nb, "OVN_Northbound", northbound())
	fill(t, sb, "OVN_Southbound", southbound())
	g := &gateway.Service{
		Dialer: new(ovsdb.Dialer), NB: []string{"unix:" + nb}, SB: []string{"unix:" + sb}, By: "a test", Now: time.Now,
		Progress: func(_ context.Context, line string) { t.Log(line) },
	}
	t.Cleanup(g.Close)
	s := &node.Service{Gateways: g, Command: func(c command.Command) string { return c.Action + " " + c.Params[0].Value }}
	chassis := id(0, 7)
	before := observed(t, g)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	claimed := make(chan error, 1)
	go func() { claimed <- claimElsewhere(ctx, nb, sb, chassis) }()
	begun := time.Now()
	said := s.Drain(t.Context(),
		node.Request{Node: chassis, Confirmed: true, Limits: maintenance.Limits{Timeout: 10 * time.Minute}})
	t.Logf("drained in %s", time.Since(begun).Round(time.Millisecond))
	require.Equal(t, answer.Success, said.Reason, document.Answer(said))
	require.NoError(t, <-claimed)

	after := observed(t, g)
	load := map[[2]string]int{}
	for _, x := range after {
		load[[2]string{x.Ports[0].Network, x.Ranked()[0]}]++
	}
	moved := 0
	for i, x := range after {
		was, is, network := before[i].Ranked(), x.Ranked(), x.Ports[0].Network
		rest := slices.DeleteFunc(slices.Clone(was), func(name string) bool { return name == chassis })
		switch {
		case len(rest) == len(was):
			requireThat(t, slices.Equal(was, is), "is not touched", x)
			continue
		case was[0] != chassis:
			requireThat(t, is[0] == was[0], "does not move", x)
		default:
			moved++
			for _, other := range rest {
				requireThat(t, load[[2]string{network, is[0]}] <= load[[2]string{network, other}]+1, "has gone to where the load is least", x)
			}
		}
		requireThat(t, is[len(is)-1] == chassis, "has the chassis last", x)
		slices.Sort(was)
		slices.Sort(is)
		requireThat(t, slices.Equal(was, is), "has the same candidates", x)
	}
	assert.Equal(t, each, moved)

	back := s.Undrain(t.Context(), node.Request{Node: chassis, Confirmed: true})
	require.Equal(t, answer.Success, back.Reason, document.Answer(back))
	for i, x := range observed(t, g) {
		sortByName(before[i].Candidates)
		sortByName(x.Candidates)
		requireThat(t, slices.Equal(before[i].Candidates, x.Candidates), "is as before", x)
	}
}

func sortByName(all []schedule.Candidate) {
	slices.SortFunc(all, func(a, b schedule.Candidate) int { return strings.Compare(a.Chassis, b.Chassis) })
}

// requireThat checks 10,000 rows without the cost of reflection.
func requireThat(t *testing.T, so bool, what string, x schedule.Group) {
	t.Helper()
	if !so {
		require.Fail(t, "not so: it "+what, "%+v", x)
	}
}

func observed(t *testing.T, g *gateway.Service) []schedule.Group {
	t.Helper()
	inventory, err := g.Observe(t.Context())
	require.NoError(t, err)
	require.Len(t, inventory.State.Groups, gateways)
	return slices.SortedFunc(slices.Values(inventory.State.Groups), func(a, b schedule.Group) int { return strings.Compare(a.Name, b.Name) })
}

// claimElsewhere rebinds the gateways of a chassis that is not the first candidate of any gateway.
func claimElsewhere(ctx context.Context, nb, sb, chassis string) error {
	uuids, err := rowsOf(ctx, sb)
	if err != nil {
		return err
	}
	for {
		led, err := ask(ctx, nb, "OVN_Northbound", map[string]any{
			"op": "select", "table": "Gateway_Chassis", "columns": []string{"_uuid"},
			"where": []any{[]any{"chassis_name", "==", chassis}, []any{"priority", "==", candidates}},
		})
		if err != nil {
			return err
		}
		if len(led[0]) == 0 {
			_, err := ask(ctx, sb, "OVN_Southbound", map[string]any{
				"op": "update", "table": "Port_Binding", "where": []any{[]any{"chassis", "==", uuids[chassis]}}, "row": map[string]any{"chassis": uuids[id(0, 1)]},
			})
			return err
		}
		if err := poll.Wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
