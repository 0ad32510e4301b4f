package scenario

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// TestNetworkWithoutIPv4 has units, clients and a unit that goes, all of them with
// IPv6 addresses only.
func TestNetworkWithoutIPv4(t *testing.T) {
	ctx, s := newStory(t, packedCharm(t), machines.Options{IPv6: true})
	s.deploy(ctx, t)
	s.connectClients(ctx, t)
	s.remove(ctx, t, s.leaderOf(ctx, t, "nb", "OVN_Northbound"))
	s.writes(ctx, t)
	nothingIsLost(ctx, t, s.client)
}
