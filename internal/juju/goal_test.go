package juju_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func goalState(t *testing.T, stdout string) juju.GoalState {
	t.Helper()
	state, err := tools(t, runtest.Expect("goal-state", "--format=json").Writes(stdout)).GoalState(t.Context())
	require.NoError(t, err)
	return state
}

func TestGoalState_own_units(t *testing.T) {
	t.Parallel()
	state := goalState(t, `{"units":{"ovn-central/0":{"status":"active","since":"2026-01-01 00:00:00Z"},"ovn-central/1":{"status":"dying"}},`+
		`"relations":{"ovsdb":{"neutron":{"status":"joined"},"neutron/0":{"status":"dying","since":"2026-01-01 00:00:00Z"}}}}`+"\n")
	assert.Equal(t, map[string]juju.UnitGoal{
		"ovn-central/0": {Status: "active"},
		"ovn-central/1": {Status: "dying"},
	}, state.Units)
	assert.False(t, state.Dying("ovn-central/0"))
	assert.True(t, state.Dying("ovn-central/1"))
	assert.False(t, state.Dying("ovn-central/2"), "not in the model")
	assert.False(t, state.Dying("neutron/0"), "of another application")
	assert.False(t, juju.GoalState{}.Dying("ovn-central/0"))
}

func TestGoalState_other_units_by_endpoint(t *testing.T) {
	t.Parallel()
	state := goalState(t, `{"units":{"ovn-central/0":{"status":"active"}},"relations":{`+
		`"certificates":{"vault":{"status":"joined"},"vault/0":{"status":"active"}},`+
		`"ovsdb":{"ovn-chassis":{"status":"joined"},"ovn-chassis/10":{"status":"active"},"ovn-chassis/9":{"status":"allocating"},`+
		`"dedicated":{"status":"joining"},"dedicated/0":{"status":"waiting"}},`+
		`"ovsdb-cms":{"admin/openstack.neutron-api":{"status":"joined"},"other:admin/k8s.kube":{"status":"joined"}}}}`)
	assert.Len(t, state.Relations, 3)
	assert.Equal(t, "allocating", state.Relations["ovsdb"]["ovn-chassis/9"].Status)
	assert.Len(t, state.Relations["ovsdb-cms"], 2, "of an offer only the URL is shown")
	assert.Equal(t, "joined", state.Relations["certificates"]["vault"].Status)
}

func TestGoalState_without_relations(t *testing.T) {
	t.Parallel()
	state := goalState(t, `{"units":{},"relations":{}}`)
	assert.Empty(t, state.Units)
	assert.Empty(t, state.Relations)
}
