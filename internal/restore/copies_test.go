package restore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// While a recovery waits for an old cluster that serves, each write would have two units run
// hooks for one another for ever: the soak's seed 17 of the disasters.
func TestCopies_with_leader_ignore_writes(t *testing.T) {
	t.Parallel()
	told := func(c recovery.Copy) recovery.Copy {
		return Copies(map[ovndb.Database]recovery.State{ovndb.NB: {Own: &c}, ovndb.SB: {}})[ovndb.NB]
	}
	led := recovery.Copy{Cluster: "c", Term: 3, Index: 150, HasRaftLeader: true}
	later := led
	later.Index = 151
	assert.Equal(t, told(led), told(later))
	assert.Equal(t, uint64(150), led.Index, "what this unit knows itself is left as it is")

	alone := recovery.Copy{Cluster: "c", Term: 3, Index: 150, Stopped: true}
	assert.Equal(t, alone, told(alone))
	assert.NotContains(t, Copies(map[ovndb.Database]recovery.State{ovndb.SB: {}}), ovndb.SB)
}
