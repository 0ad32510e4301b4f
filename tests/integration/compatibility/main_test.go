// Package compatibility tests that an application of the Python charm is taken over, and that restarts are held back as
// there. tests/system/compatibility does what that charm's functional tests do.
package compatibility

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
