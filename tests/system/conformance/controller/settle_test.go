package controller

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/juju/juju/rpc/params"
	"github.com/juju/juju/worker/uniter/operation"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// A fake agent: no real one can be held between two of its steps.
func TestNothingIsSettledBeforeAnAgentHasDoneItsPart(t *testing.T) {
	t.Parallel()
	const unit, other = "x/0", "x/1"
	c := &Controller{
		changed: make(chan struct{}), dir: t.TempDir(),
		watches: map[string]*watch{"1": {agent: "a", waiting: true}},
		state: State{
			Charms: []Archive{{URL: "local:x-0"}},
			Units: map[string]*Unit{unit: {
				Name: unit, Life: "alive", CharmURL: "local:x-0", Agent: now("idle", ""), starting: true,
			}},
		},
	}
	call := func(facade, request string, arguments any) Response {
		text, err := json.Marshal(arguments)
		require.NoError(t, err)
		return c.Call(t.Context(), Request{Agent: "a", Unit: unit, Facade: facade, Request: request, Params: text})
	}
	beats := func() {
		for range enoughBeats {
			require.Nil(t, call(waitFacade, "Beat", nil).Error)
		}
	}
	writes := func(state operation.State) {
		text, err := yaml.Marshal(state)
		require.NoError(t, err)
		kept := string(text)
		require.Nil(t, call("Uniter", "SetState", params.SetUnitStateArgs{
			Args: []params.SetUnitStateArg{{Tag: unitTag(unit), UniterState: &kept}},
		}).Error)
	}
	busy := func() string {
		_, busy := c.look()
		return busy
	}

	beats()
	assert.Equal(t, "the agent of x/0 is starting", busy())
	ctx, leaves := context.WithCancel(t.Context())
	left := make(chan Response)
	go func() { left <- c.Call(ctx, Request{Agent: "a", Unit: unit, Facade: waitFacade, Request: "Stays"}) }()
	require.NoError(t, c.until(t.Context(), func() bool { return c.state.Units[unit].agent == "a" }))
	beats()
	assert.Equal(t, "x/0 doesn't watch everything yet", busy())
	c.watches["1"].last = true
	writes(operation.State{Kind: operation.RunHook, Step: operation.Pending})
	beats()
	assert.Equal(t, "x/0 is in the middle of an operation (run-hook)", busy())
	writes(operation.State{Kind: operation.Continue, Step: operation.Pending})
	assert.Equal(t, "x/0 has hardly run since the last call", busy())
	beats()
	assert.Empty(t, busy())

	require.NoError(t, c.SetLeader(unit))
	beats()
	assert.Equal(t, "x/0 doesn't know who leads", busy())
	require.Nil(t, call(waitFacade, "Claim", nil).Error)
	beats()
	assert.Equal(t, "x/0 is to act on who leads", busy())
	writes(operation.State{Kind: operation.Continue, Step: operation.Pending, Leader: true})
	beats()
	assert.Empty(t, busy())
	require.Nil(t, call(waitFacade, "Claim", nil).Error)
	assert.Empty(t, busy(), "a renewed lease is no news")

	c.state.Leader = other
	require.NotNil(t, call(waitFacade, "Claim", nil).Error)
	beats()
	assert.Equal(t, "x/0 is to act on who leads", busy(), "it has been told, and has not even begun")
	writes(operation.State{Kind: operation.Continue, Step: operation.Pending})
	assert.Equal(t, "x/0 has hardly run since the last call", busy(), "its hook comes after that")
	beats()
	assert.Empty(t, busy())

	leaves()
	<-left
	assert.Empty(t, busy(), "who is gone has nothing to do")
	assert.Empty(t, c.watches)
}
