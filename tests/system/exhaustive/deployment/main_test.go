// Package deployment has tests that take too long for tests/integration. They kill hooks at every call, play orders
// of events, upgrade packages, start units on machines that were used before, and make a real Prometheus read
// metrics.
package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
