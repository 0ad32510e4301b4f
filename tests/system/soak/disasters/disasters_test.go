// Package disasters plays random losses of a quorum on the lab; see package soak.
package disasters

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/system/soak"
)

func TestMain(m *testing.M) { soak.Main(m) }

func TestDisasters_break_no_invariant(t *testing.T) { soak.Disasters(t) }
