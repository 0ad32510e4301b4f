// Package random plays random operations and faults on the lab; see package soak.
package random

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/system/soak"
)

func TestMain(m *testing.M) { soak.Main(m) }

func TestRandomFaults_break_no_invariant(t *testing.T) { soak.Random(t) }
