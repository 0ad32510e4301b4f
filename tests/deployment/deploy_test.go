package deployment

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

func TestThreeEmptyMachinesBecomeAControlPlane(t *testing.T) {
	c := newCloud(t, lab.Options{})
	c.relateVault(t)
	c.relateClients(t)
	units := c.addFresh(t, 3)
	for _, u := range units {
		assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
		t.Log(u.Name(), u.Workload())
	}
	for _, relation := range []int{c.chassis, c.cms} {
		for _, u := range units {
			assert.Equal(t, `"`+u.Address()+`"`, c.RelationData(relation).Units[u.Name()]["bound-address"])
		}
	}
}
