// Package remedies tests the catalogue of findings on real servers: each finding appears, its remedy is carried out
// exactly as printed, and the finding ends, or the documented next one appears.
package remedies

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
