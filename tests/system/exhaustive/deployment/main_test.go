// Package deployment kills hooks at every call, plays orders of events, and tells the life of an
// application: what takes too long for tests/integration.
package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
