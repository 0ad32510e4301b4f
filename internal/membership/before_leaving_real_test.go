//go:build programs

package membership

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The agent of a unit that goes hands over first: afterwards its member of the database is gone, and
// it could not write any more that another unit may act.
func TestAgentIsStoppedWhileItsUnitIsAMemberStill(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	leaver := units[2]
	members := -1
	leaver.BeforeLeaving = func(ctx context.Context) {
		if members >= 0 { // it is stopped twice at most
			return
		}
		members = 0
		if s, err := leaver.Control.Status(ctx, ovndb.NB); err == nil && s.HasLeader() {
			members = len(s.Servers)
		}
	}
	_, err := leaver.Stop(t.Context(), going(leaver, units...), observe.Cache{})
	require.NoError(t, err)
	assert.Equal(t, 3, members)
}
