package juju_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

func TestReadEnv(t *testing.T) {
	t.Parallel()
	unit := map[string]string{
		"JUJU_UNIT_NAME": "ovn-central/10", "JUJU_MODEL_UUID": "deadbeef-0bad-400d-8000-4b1d0d06f00d",
		"JUJU_MODEL_NAME": "network",
		"JUJU_CHARM_DIR":  "/charm", "CHARM_DIR": "/old", "JUJU_VERSION": "3.6.11", "JUJU_CONTEXT_ID": "ovn-central/10-run-1",
	}
	base := juju.Env{
		Unit: "ovn-central/10", App: "ovn-central", ModelUUID: "deadbeef-0bad-400d-8000-4b1d0d06f00d", ModelName: "network",
		Version: juju.Version{Major: 3, Minor: 6},
	}
	departed, action := base, base
	departed.HookName, departed.Relation, departed.RelationID = "ovsdb-peer-relation-departed", "ovsdb-peer",
		"ovsdb-peer:1"
	action.ActionName, action.ActionID = "kick", "7"

	tests := map[string]struct {
		more map[string]string
		want juju.Env
	}{
		"hook without more": {nil, base},
		"relation hook": {map[string]string{
			"JUJU_HOOK_NAME": "ovsdb-peer-relation-departed", "JUJU_RELATION": "ovsdb-peer", "JUJU_RELATION_ID": "ovsdb-peer:1",
			"JUJU_REMOTE_UNIT": "ovn-central/2", "JUJU_REMOTE_APP": "ovn-central", "JUJU_DEPARTING_UNIT": "ovn-central/2",
		}, departed},
		"action": {map[string]string{"JUJU_HOOK_NAME": "", "JUJU_ACTION_NAME": "kick", "JUJU_ACTION_UUID": "7"}, action},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, juju.ReadEnv(func(name string) string {
				if value, ok := tc.more[name]; ok {
					return value
				}
				return unit[name]
			}))
		})
	}
}

func TestReadEnv_empty_outside_of_Juju(t *testing.T) {
	t.Parallel()
	assert.Zero(t, juju.ReadEnv(func(string) string { return "" }))
}

func TestReadEnv_version(t *testing.T) {
	t.Parallel()
	tests := map[string]juju.Version{
		"3.6.11": {Major: 3, Minor: 6}, "2.9.42.1": {Major: 2, Minor: 9}, "3.5-beta1": {Major: 3, Minor: 5},
		"4.0":                   {Major: 4},
		"2.9-rc10-ubuntu-amd64": {Major: 2, Minor: 9},
		"":                      {}, "3": {}, "3.": {}, "three.6": {}, ".6": {}, "-3.6": {}, "3.x": {},
		"99999999999999999999.1": {},
	}
	for text, want := range tests {
		env := juju.ReadEnv(func(name string) string { return map[string]string{"JUJU_VERSION": text}[name] })
		assert.Equal(t, want, env.Version, "%q", text)
	}
}

func TestBrokenRelation_only_in_broken_hook(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]string{
		"ovsdb-relation-broken": "ovsdb:3", "ovsdb-relation-departed": "", "update-status": "", "": "",
	} {
		assert.Equal(t, want, juju.Env{HookName: hook, RelationID: "ovsdb:3"}.BrokenRelation(), hook)
	}
}
