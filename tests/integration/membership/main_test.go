// Package membership tests on real servers how units leave, kick and restart members, take the lock, and show the
// state of the clusters.
package membership

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
