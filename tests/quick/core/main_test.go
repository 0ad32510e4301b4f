// Package core shows on real servers, in about a minute, what the product must never lose: each
// test is the shortest one that turns red if a promise breaks. tests/integration has the rest.
package core

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
