// Package deployment tests that the charm turns empty machines into a working control
// plane and maintains it. The ovsdb-server processes are real, use TLS, and are started
// by the packages' own ovn-ctl. Each unit has its own network namespace, and the lab
// replaces Juju.
package deployment

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
