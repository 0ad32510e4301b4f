// Package deployment kills hooks at every call, plays orders of events, upgrades packages, starts units on machines that
// something else has used, and has a real Prometheus read metrics: what takes too long for tests/integration.
package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
