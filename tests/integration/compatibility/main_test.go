// Package compatibility does what the functional tests of the Python charm do. It also tests that the charm takes over
// an application of that charm, and defers restarts in the same way.
package compatibility

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
