package juju_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

func TestReadEnv(t *testing.T) {
	t.Parallel()
	variables := map[string]string{
		"JUJU_UNIT_NAME": "ovn-central/10", "JUJU_MODEL_UUID": "deadbeef", "JUJU_MODEL_NAME": "network",
		"JUJU_VERSION": "3.6.11", "JUJU_HOOK_NAME": "ovsdb-peer-relation-departed", "JUJU_RELATION": "ovsdb-peer",
		"JUJU_RELATION_ID": "ovsdb-peer:1", "JUJU_ACTION_NAME": "kick", "JUJU_ACTION_UUID": "7",
	}
	assert.Equal(t, juju.Env{
		Unit: "ovn-central/10", App: "ovn-central", ModelUUID: "deadbeef", ModelName: "network",
		Version: juju.Version{Major: 3, Minor: 6}, HookName: "ovsdb-peer-relation-departed",
		ActionName: "kick", ActionID: "7", Relation: "ovsdb-peer", RelationID: "ovsdb-peer:1",
	}, juju.ReadEnv(func(name string) string { return variables[name] }))
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
