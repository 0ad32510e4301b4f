package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

type cloud struct{ *labtest.Model }

func newCloud(t *testing.T, o lab.Options) *cloud {
	t.Helper()
	return &cloud{labtest.Empty(t, o)}
}

// deployed is a model with a CA, clients, and n active units.
func deployed(t *testing.T, n int, o lab.Options) (*cloud, []*lab.Unit) {
	t.Helper()
	m, units := labtest.Fresh(t, n, o)
	return &cloud{m}, units
}

func (c *cloud) run(name string, test func(*cloud)) {
	c.T.Helper()
	c.Run(name, func(m *labtest.Model) { test(&cloud{m}) })
}
