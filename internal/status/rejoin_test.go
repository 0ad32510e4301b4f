package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// A unit whose server can't be started any more is mended by one action on itself, as long as
// it knows which member that was.
func TestUnitThatCannotStartItsServerIsToRejoinOrToBeKicked(t *testing.T) {
	s := observetest.Three(t)
	m := s.Report().Application
	assert.Equal(t, "juju run "+m.Unit+" rejoin database=nb i-really-mean-it=true", status.RejoinCommand(m, nil, ovndb.NB))

	m.Published[m.Unit][ovndb.NB] = relation.Identity{Server: "aa01"}
	assert.Equal(t, "juju run "+m.Others()[0]+" kick nb-identity=aa01 unit-in-model=true i-really-mean-it=true", status.RejoinCommand(m, nil, ovndb.NB), "it does not know which member")

	running := map[ovndb.Database]observe.ServerState{ovndb.NB: {Database: ovndb.NB, Condition: ovndb.Serving}}
	assert.Contains(t, status.RejoinCommand(m, running, ovndb.NB), " force=true", "a server that runs")

	m.Goal = map[string]juju.UnitGoal{m.Unit: {Status: "active"}}
	assert.Empty(t, status.RejoinCommand(m, nil, ovndb.NB), "no other unit could remove it")
}
