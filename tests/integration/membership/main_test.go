// Package membership
package membership

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
