package relation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// A peer with this charm before it published what runs converts once `package-version`
// is what it has installed: so that is one that runs. What such a peer publishes there
// itself is not taken for what it runs.
func TestVersionsThatRunAreToldToPeersOfBothKinds(t *testing.T) {
	t.Parallel()
	before, after := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}, ovndb.Version{OVN: "25.03.0-1", OVS: "3.5.0-1"}
	databag := relation.UnitState{Running: []ovndb.Version{before, after}}.Databag()
	assert.Equal(t, "23.03.1-1 openvswitch 3.1.0-2,25.03.0-1 openvswitch 3.5.0-1", databag["running-version"])
	assert.Equal(t, "23.03.1-1", databag["package-version"])
	d, problems := relation.ParseUnitState(databag)
	assert.Empty(t, problems)
	assert.Equal(t, []ovndb.Version{before, after}, d.Running)

	d, _ = relation.ParseUnitState(map[string]string{"package-version": "25.03.0-1"})
	assert.Empty(t, d.Running, "installed is not running")
	databag = relation.UnitState{}.Databag()
	assert.Empty(t, databag["running-version"]+databag["package-version"])
}

func TestCountOfClientsIsToldAndNoneIsNotZero(t *testing.T) {
	t.Parallel()
	databag := relation.UnitState{Clients: map[ovndb.Database]int{ovndb.SB: 103, ovndb.NB: 0}}.Databag()
	d, _ := relation.ParseUnitState(databag)
	assert.Equal(t, map[ovndb.Database]int{ovndb.SB: 103, ovndb.NB: 0}, d.Clients)
	d, _ = relation.ParseUnitState(map[string]string{"nb-clients": "-1", "sb-clients": "many"})
	assert.Empty(t, d.Clients)
	assert.Empty(t, relation.UnitState{}.Databag()["sb-clients"])
}
