//go:build programs

package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// R1, R9, on real servers: the file of the server has the other members and their addresses
// that is down, for `stop` has no relation to learn it from.
func TestStopOfAServerThatIsDownAsksTheOthersWhetherTheyAreAMajority(t *testing.T) {
	for name, c := range map[string]struct {
		members int
		// more are down besides the one that goes.
		more    int
		refused finding.Tally
	}{
		"one of two":                       {2, 0, finding.Tally{Up: 1, Members: 2}},
		"one of three":                     {3, 0, finding.Tally{}},
		"one of three, another one is off": {3, 1, finding.Tally{Up: 1, Members: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			units := realCluster(t, c.members, ovndb.NB)
			going := units[len(units)-1]
			m := model(going, units...)
			m.Goal[going.Env.Unit] = juju.UnitGoal{Status: "dying"}
			for _, u := range units[len(units)-1-c.more:] {
				u.kill(ovndb.NB)
			}
			_, err := going.Stop(t.Context(), m, observe.Cache{})
			if c.refused.Members == 0 {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, []string{"nb SERVER_NEEDED"}, findingtest.Codes(err))
			assert.Equal(t, c.refused, finding.Reasons(err)[0].Args.After)
		})
	}
}
