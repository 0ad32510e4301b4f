package juju_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func TestStatusMessageIsOneLineAndNoFlag(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		word juju.StatusWord
		sent string
		want []string
	}{
		"plain":             {juju.Active, "2 of 3 members", []string{"--", "active", "2 of 3 members"}},
		"none":              {juju.Active, "", []string{"--", "active", ""}},
		"looks like a flag": {juju.Blocked, "--application", []string{"--", "blocked", "--application"}},
		"several lines":     {juju.Waiting, " first,\r\n\n  second\tthird\n", []string{"--", "waiting", "first, second third"}},
		"control":           {juju.Maintenance, "a\x00b\x1b[1mc\u0085d", []string{"--", "maintenance", "a b [1mc d"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := tools(t, runtest.Expect("status-set", tc.want...))
			require.NoError(t, script.StatusSet(t.Context(), tc.word, tc.sent))
		})
	}
}

func TestLeadership(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]bool{"true\n": true, "false\n": false} {
		leader, err := tools(t, runtest.Expect("is-leader", "--format=json").Writes(stdout)).IsLeader(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, leader)
	}
}

func TestGoalStateHoldsTheUnitsOfThisApplication(t *testing.T) {
	t.Parallel()
	state, err := tools(t, runtest.Expect("goal-state", "--format=json").Writes(
		`{"units":{"ovn-central/0":{"status":"active","since":"2026-01-01 00:00:00Z"},"ovn-central/1":{"status":"dying"}},`+
			`"relations":{"ovsdb":{"neutron":{"status":"joined"},"neutron/0":{"status":"dying","since":"2026-01-01 00:00:00Z"}}}}`+"\n",
	)).GoalState(t.Context())
	require.NoError(t, err)
	assert.Equal(t, juju.GoalState{Units: map[string]juju.UnitGoal{
		"ovn-central/0": {Status: "active", Since: "2026-01-01 00:00:00Z"},
		"ovn-central/1": {Status: "dying"},
	}}, state)
	assert.False(t, state.Dying("ovn-central/0"))
	assert.True(t, state.Dying("ovn-central/1"))
	assert.False(t, state.Dying("ovn-central/2"), "not in the model")
	assert.False(t, state.Dying("neutron/0"), "of another application")
	assert.False(t, juju.GoalState{}.Dying("ovn-central/0"))
}
