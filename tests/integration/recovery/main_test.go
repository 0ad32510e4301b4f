// Package recovery tests on real servers backups and restores, quorums that are lost for good, and disks that fail.
package recovery

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
