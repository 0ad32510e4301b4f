// Package large waits for, recovers and restores databases of hundreds of MiB.
package large

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
