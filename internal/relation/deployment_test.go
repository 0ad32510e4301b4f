package relation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// A peer with this charm before it published what runs converts once `package-version`
// is what it has installed: so that is one that runs. What such a peer publishes there
// itself is not taken for what it runs.
func TestVersionsThatRunAreToldToPeersOfBothKinds(t *testing.T) {
	t.Parallel()
	before, after := plan.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}, plan.Version{OVN: "25.03.0-1", OVS: "3.5.0-1"}
	bag := relation.Deployment{Running: []plan.Version{before, after}}.Bag()
	assert.Equal(t, "23.03.1-1 openvswitch 3.1.0-2,25.03.0-1 openvswitch 3.5.0-1", bag["running-version"])
	assert.Equal(t, "23.03.1-1", bag["package-version"])
	d, problems := relation.ParseDeployment(bag)
	assert.Empty(t, problems)
	assert.Equal(t, []plan.Version{before, after}, d.Running)

	d, _ = relation.ParseDeployment(map[string]string{"package-version": "25.03.0-1"})
	assert.Empty(t, d.Running, "installed is not running")
	bag = relation.Deployment{}.Bag()
	assert.Empty(t, bag["running-version"]+bag["package-version"])
}

func TestCountOfClientsIsToldAndNoneIsNotZero(t *testing.T) {
	t.Parallel()
	bag := relation.Deployment{Clients: map[raft.Database]int{raft.SB: 103, raft.NB: 0}}.Bag()
	d, _ := relation.ParseDeployment(bag)
	assert.Equal(t, map[raft.Database]int{raft.SB: 103, raft.NB: 0}, d.Clients)
	d, _ = relation.ParseDeployment(map[string]string{"nb-clients": "-1", "sb-clients": "many"})
	assert.Empty(t, d.Clients)
	assert.Empty(t, relation.Deployment{}.Bag()["sb-clients"])
}
