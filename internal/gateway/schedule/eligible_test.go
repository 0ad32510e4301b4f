package schedule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// The table of docs/reference/gateway-hosts.md: c1 and c2 have the network, c3 has another one.
func TestEligible(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		owner schedule.Owner
		kind  schedule.Kind
		// marked are chassis with enable-chassis-as-gw, external with enable-chassis-as-extport-host.
		marked, external string
		// fresh are the candidates that a group without any is given, kept those that one of c1, c2 and c3 has in the end.
		fresh, kept string
	}{
		"Neutron, one marked":              {schedule.Neutron, schedule.RouterPorts, "c1", "", "c1", "c1"},
		"Neutron, none marked":             {schedule.Neutron, schedule.RouterPorts, "", "", "", "c1 c2"},
		"Neutron, another network marked":  {schedule.Neutron, schedule.RouterPorts, "c3", "", "", "c1 c2 c3"},
		"earlier, one marked":              {schedule.EarlierNeutron, schedule.RouterPorts, "c1", "", "c1", "c1"},
		"earlier, none marked":             {schedule.EarlierNeutron, schedule.RouterPorts, "", "", "c1 c2", "c1 c2"},
		"earlier, another network marked":  {schedule.EarlierNeutron, schedule.RouterPorts, "c3", "", "c1 c2", "c1 c2"},
		"others, one marked":               {schedule.Other, schedule.RouterPorts, "c1", "", "c1 c2", "c1 c2"},
		"others, none marked":              {schedule.Other, schedule.RouterPorts, "", "", "c1 c2", "c1 c2"},
		"external, gateways marked":        {schedule.Neutron, schedule.ExternalPorts, "c1", "", "c1", "c1"},
		"external, none marked":            {schedule.EarlierNeutron, schedule.ExternalPorts, "", "", "", "c1 c2"},
		"external, hosts for them":         {schedule.Neutron, schedule.ExternalPorts, "c1", "c2", "c2", "c2"},
		"external, hosts for them, routed": {schedule.Neutron, schedule.RoutedExternalPorts, "c1", "c2", "c1", "c1"},
		"external, others":                 {schedule.Other, schedule.ExternalPorts, "c1", "c2", "c1 c2", "c1 c2"},
	} {
		s := schedule.State{Chassis: append(pool("n", "c1", "c2"), chassis("c3", "other"))}
		for i, c := range s.Chassis {
			s.Chassis[i].Gateway, s.Chassis[i].External = strings.Contains(x.marked, c.Name), strings.Contains(x.external, c.Name)
		}
		g := schedule.Group{
			Name: "g", Owner: x.owner, Kind: x.kind,
			Ports: []schedule.Port{{Name: "p", Network: "n", External: x.kind != schedule.RouterPorts}},
		}
		given := func(chassis ...string) string {
			g.Candidates = candidates(chassis...)
			s.Groups = []schedule.Group{g}
			return strings.Join(order(applied(s, schedule.Reschedule(s, schedule.Options{})), "g"), " ")
		}
		assert.Equal(t, x.fresh, given(), "%s: without candidates", name)
		assert.Equal(t, x.kept, given("c1", "c2", "c3"), name)
	}
}
