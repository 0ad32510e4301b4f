package maintenance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The type of a port decides which hold it makes. Ports that OVN makes itself, or makes on every chassis, hold nothing.
func TestDerive_each_type_of_port(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"": HoldCompute, "virtual": HoldCompute, "external": HoldExternal,
		"chassisredirect": HoldGateway, "l3gateway": HoldGateway, "l2gateway": HoldGateway, "vtep": HoldGateway,
		"patch": "", "localnet": "", "localport": "", "router": "",
	} {
		holds := derive([]Binding{{"p1", kind, "c1"}, {"p2", kind, "c1"}, {"p3", kind, ""}})
		if want == "" {
			assert.Empty(t, holds, kind)
			continue
		}
		require.Len(t, holds["c1"], 1, kind)
		assert.Equal(t, Hold{Name: want, Count: 2, Derived: true, Examples: []string{"p1", "p2"}}, holds["c1"][0], kind)
		assert.Equal(t, want != HoldCompute, holds["c1"][0].OfGateways(), kind)
	}
}
