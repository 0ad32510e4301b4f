package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// cloud is a lab with the steps that only tests of deployments take.
type cloud struct{ *labtest.Model }

// newCloud makes an empty model.
func newCloud(t *testing.T, o lab.Options) *cloud {
	t.Helper()
	return &cloud{labtest.Empty(t, o)}
}

// deployed is a model with a CA, clients, and n units that were empty machines and are active.
func deployed(t *testing.T, n int, o lab.Options) (*cloud, []*lab.Unit) {
	t.Helper()
	m, units := labtest.Fresh(t, n, o)
	return &cloud{m}, units
}

// run runs a subtest on the same units.
func (c *cloud) run(name string, test func(*cloud)) {
	c.T.Helper()
	c.Run(name, func(m *labtest.Model) { test(&cloud{m}) })
}
