package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Juju drops what a hook that fails has told it, and a record that says otherwise stays.
func TestPortsAreOpenedAgainByEveryHookThatAsksForEverything(t *testing.T) {
	t.Parallel()
	for _, thorough := range []bool{true, false} {
		told := &programs{t: t, answers: map[string]string{"open-port 6641/tcp": "", "open-port 6642/tcp": ""}}
		u := &Reconciler{Machine: &observe.Machine{Env: juju.Env{HookName: "ovsdb-peer-relation-changed"}}, Tools: juju.New(told)}
		p := pass{record: &record{Ports: []int{6641, 6642}}, inputs: inputs{thorough: thorough}, result: Result{Decision: plan.Decision{Ready: true}}}
		require.NoError(t, u.publishToJuju(t.Context(), p))
		if !thorough {
			assert.Empty(t, told.ran)
			continue
		}
		assert.Equal(t, []string{"open-port 6641/tcp", "open-port 6642/tcp"}, told.ran)
	}
}
