// Package story tells the life of an application on machines with Juju's own agent, from the first
// unit to its removal. Its parts are in tests/system/machines/scenario.
package story

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines/scenario"
)

func TestStory(t *testing.T) { scenario.Life(t) }
