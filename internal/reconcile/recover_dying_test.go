package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// The request of a unit that is being removed would be kept, and never carried out.
func TestRecoveryOnAUnitThatIsBeingRemovedIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	u := &Reconciler{Machine: &observe.Machine{Env: juju.Env{Unit: "ovn-central/0"}}}
	staying, dying := plan.Peer{Unit: "ovn-central/2"}, plan.Peer{Unit: "ovn-central/1", Dying: true}
	assert.Empty(t, u.refuseDying(plan.State{Peers: []plan.Peer{staying, dying}}))
	assert.Equal(t, []string{"this unit is being removed, so that it makes no new cluster; to see the plan of a unit that stays, run: juju run ovn-central/2 recover dry-run=true"},
		u.refuseDying(plan.State{Dying: true, Peers: []plan.Peer{dying, staying}}))
	assert.Equal(t, []string{"this unit is being removed, so that it makes no new cluster, and no unit stays; to keep its data, run: juju run ovn-central/0 backup; then deploy the application again, and restore the backup there"},
		u.refuseDying(plan.State{Dying: true, Peers: []plan.Peer{dying}}))
}
