// Package compatibility tests that the charm takes over an application of the Python charm, and defers restarts in
// the same way. tests/system/compatibility repeats that charm's functional tests.
package compatibility

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
