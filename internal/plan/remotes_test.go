package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

func TestUnitJoinsAtTheMembersAddressesWherePeersHaveOthersSince(t *testing.T) {
	t.Parallel()
	at := func(address string) string { return ovndb.RaftAddress(ovndb.NB, address) }
	peers := []string{at(addressOf(2)), at(addressOf(1))}
	for title, c := range map[string]struct {
		members, want []string
	}{
		"no members are known":             {nil, peers},
		"they are where their members are": {append([]string{at(addressOf(9))}, peers...), peers},
		"all have other addresses":         {[]string{at("10.9.9.1"), at("10.9.9.2")}, append(peers, at("10.9.9.1"), at("10.9.9.2"))},
		"one has":                          {[]string{at("10.9.9.1"), peers[1]}, append(peers, at("10.9.9.1"))},
		"one had this unit's":              {[]string{at(addressOf(0)), peers[1]}, peers},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := well()
			s.Databases[ovndb.NB] = plan.Database{Condition: ovndb.Absent}
			s.Members = map[ovndb.Database][]string{ovndb.NB: c.members}
			step := plan.Decide(s).Step
			require.NotNil(t, step)
			require.Equal(t, plan.JoinCluster, step.Kind)
			assert.Equal(t, c.want, step.Remotes)
		})
	}
}
