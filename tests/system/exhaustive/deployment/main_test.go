// Package deployment kills hooks at every call, plays orders of events, tells the life of an application, and has a real
// Prometheus read its metrics: what takes too long for tests/integration.
package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
