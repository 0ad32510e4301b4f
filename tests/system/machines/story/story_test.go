// Package story runs the life of an application on machines with Juju's own agent (see package scenario).
package story

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines/scenario"
)

func TestStory(t *testing.T) { scenario.Life(t) }
