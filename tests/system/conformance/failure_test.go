package conformance_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/juju/juju/rpc/params"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/controller"
)

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 3*time.Minute, 20*time.Millisecond)
}

func TestHook_failed_is_retried_by_agent(t *testing.T) {
	t.Parallel()
	s := newDeployment(t, nil)
	unit := s.add()
	s.settle()
	s.restartAgent(unit, agentConfig{retry: params.RetryStrategy{
		ShouldRetry: true, MinRetryTime: 100 * time.Millisecond, MaxRetryTime: time.Second, RetryTimeFactor: 2,
	}})
	s.settle()
	require.NoError(t, s.Place(unit, "update-status", "[ -e allowed ]"))
	before := len(s.hooks(unit))
	require.NoError(t, s.UpdateStatus(unit))
	eventually(t, func() bool { return len(s.hooks(unit)) >= before+3 })
	assert.Equal(t, controller.StatusWord{Status: "error", Message: `hook failed: "update-status"`}, s.Status().Units[unit].Workload)
	require.NoError(t, s.Place(unit, "update-status", ""))
	eventually(t, func() bool { hooks := s.hooks(unit); return hooks[len(hooks)-1] == "update-status" })
	assert.Empty(t, s.settle())
	assert.Equal(t, []string{"update-status (failed)", "update-status (failed)", "update-status (failed)"}, s.hooks(unit)[before:before+3])
}

// A machine that loses its power in a hook: the hook counts as failed, and waits to be retried, with nothing before it.
func TestHook_dies_with_agent_and_fails(t *testing.T) {
	t.Parallel()
	s := newDeployment(t, nil)
	unit := s.add()
	s.settle()
	require.NoError(t, s.Place(unit, "config-changed", "relation-set -r ovsdb-peer:1 early=1; leader-set kept=1; kill -9 $PPID; kill -9 $$"))
	require.NoError(t, s.Configure(map[string]string{"interval": "9"}))
	<-s.agents[unit].done
	require.NoError(t, s.Place(unit, "config-changed", ""))
	s.startAgent(unit, agentConfig{rebooted: true})
	assert.Equal(t, map[string]string{unit: `hook failed: "config-changed"`}, s.settle())
	data, err := s.Data(1)
	require.NoError(t, err)
	assert.NotContains(t, data.Units[unit], "early")
	assert.Equal(t, map[string]string{"kept": "1"}, s.Status().LeaderSettings)
	before := len(s.hooks(unit))
	require.NoError(t, s.Resolved(unit, false))
	assert.Empty(t, s.settle())
	assert.Equal(t, []string{"config-changed", "start"}, s.hooks(unit)[before:], "start tells of the reboot, once the hook is done")
}

// The agent takes it that it is being shut down itself, and is no judge of it.
func TestHook_killed_alone_runs_again_at_once(t *testing.T) {
	t.Parallel()
	s := newDeployment(t, nil)
	unit := s.add()
	s.settle()
	require.NoError(t, s.Place(unit, "config-changed", "[ -e once ] && exit 0; touch once; kill -9 $$"))
	before := len(s.hooks(unit))
	require.NoError(t, s.Configure(map[string]string{"interval": "9"}))
	assert.Empty(t, s.settle())
	assert.Equal(t, []string{"config-changed (killed)", "config-changed"}, s.hooks(unit)[before:])
}

func TestAgent_killed_between_hooks_continues(t *testing.T) {
	t.Parallel()
	s := newDeployment(t, nil)
	first, second := s.add("10.99.0.10"), s.add("10.99.0.11")
	s.settle()
	require.NoError(t, s.agents[second].process.Process.Signal(syscall.SIGKILL))
	<-s.agents[second].done
	delete(s.agents, second)
	eventually(t, func() bool { return s.Status().Units[second].Agent.Status == "lost" })
	_, err := s.Relate("ovsdb", "neutron", 1)
	require.NoError(t, err)
	s.settle()
	assert.Contains(t, s.hooks(first), "ovsdb-relation-joined neutron/0")
	assert.NotContains(t, s.hooks(second), "ovsdb-relation-created")
	s.startAgent(second, agentConfig{})
	assert.Empty(t, s.settle())
	assert.Contains(t, s.hooks(second), "ovsdb-relation-joined neutron/0")
	s.Look(func(state controller.State) { assert.Equal(t, first, state.Leader) })
}
