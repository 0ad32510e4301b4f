// Package recovery kills recoveries at every call, has units return at every moment of one, and fails disks.
package recovery

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
