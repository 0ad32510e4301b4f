package deployment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// J9: what is only not there yet, as Juju 4 tells of it late, is no error: an operator who
// greps the log of a fresh deployment for ERROR finds nothing.
func TestFreshDeploymentOnJuju4LogsNoError(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: lab.Juju4})
	c.RunUpdateStatus(units...)
	for _, u := range units {
		log := logFrom(t, u, 0)
		require.Contains(t, log, ": start ovn-northd", "the premise: it is the log")
		assert.NotRegexp(t, `(?m)^ERROR .*$`, log, u.Name())
	}
}
