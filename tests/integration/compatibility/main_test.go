// Package compatibility tests that programs which read the Python charm's output read that of this
// charm, and that an application of the Python charm is taken over: the rows of
// docs/reference/compatibility.md that need servers.
package compatibility

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
