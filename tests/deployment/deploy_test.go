package deployment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// J9: what is only not there yet, as Juju 4 tells of it late, is no error: an operator who
// greps the log of a fresh deployment for ERROR finds nothing.
func TestFreshDeploymentOnJuju4LogsNoError(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: "4.0.15"})
	c.updateStatus(t, units...)
	for _, u := range units {
		log := logFrom(t, u, 0)
		require.Contains(t, log, ": start ovn-northd", "the premise: it is the log")
		assert.NotRegexp(t, `(?m)^ERROR .*$`, log, u.Name())
	}
}
