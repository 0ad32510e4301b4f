package juju

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// Env is what Juju passes to a hook or an action in its environment. Unset variables are empty. Env does not use HOME
// and USER, since hooks do not have them. Source: runner/context HookVars and env.go of Juju.
type Env struct {
	// Unit is this unit. App is its application: the part of Unit before the slash.
	Unit, App string
	// ModelUUID and ModelName identify the unit's model.
	ModelUUID, ModelName string
	// Version is the version of the unit's Juju agent.
	Version Version
	// HookName is empty in actions.
	HookName string
	// ActionName and ActionID are empty in hooks.
	ActionName, ActionID string
	// Relation is the endpoint and RelationID the relation, such as `ovsdb-peer:1`, of a relation hook.
	Relation, RelationID string
}

// ReadEnv reads the environment by getenv, such as [os.Getenv].
func ReadEnv(getenv func(string) string) Env {
	env := Env{
		Unit:       getenv("JUJU_UNIT_NAME"),
		ModelUUID:  getenv("JUJU_MODEL_UUID"),
		ModelName:  getenv("JUJU_MODEL_NAME"),
		Version:    parseVersion(getenv("JUJU_VERSION")),
		HookName:   getenv("JUJU_HOOK_NAME"),
		ActionName: getenv("JUJU_ACTION_NAME"),
		ActionID:   getenv("JUJU_ACTION_UUID"),
		Relation:   getenv("JUJU_RELATION"),
		RelationID: getenv("JUJU_RELATION_ID"),
	}
	env.App = unitname.Application(env.Unit)
	return env
}

// Event is the reason why Juju runs the program: the hook's name, or [Action].
type Event string

// The events that the program distinguishes.
const (
	Action        Event = ""
	Install       Event = "install"
	Start         Event = "start"
	ConfigChanged Event = "config-changed"
	UpgradeCharm  Event = "upgrade-charm"
	LeaderElected Event = "leader-elected"
)

// Event returns why Juju runs the program. Outside of Juju it is an action.
func (e Env) Event() Event { return Event(e.HookName) }

// BrokenRelation returns the ID of the relation that ends with this hook, a -relation-broken; empty in other hooks.
// Before 3.6, [Tools.RelationIDs] still lists it. Source: runner/context/context.go of Juju.
func (e Env) BrokenRelation() string {
	if strings.HasSuffix(e.HookName, "-relation-broken") {
		return e.RelationID
	}
	return ""
}

// Unbroken returns the relations without the [Env.BrokenRelation], which can be neither read nor written.
func (e Env) Unbroken(relations []string) []string {
	broken := e.BrokenRelation()
	return slices.DeleteFunc(relations, func(id string) bool { return id == broken })
}

// Is reports whether a unit of a model, by the model's UUID, is this one. Another model may have a unit of the same
// name. If either model is unknown, as outside of hooks and actions, the name decides.
func (e Env) Is(unit, model string) bool {
	return unit == e.Unit && (model == e.ModelUUID || model == "" || e.ModelUUID == "")
}

// Version is a version of Juju, without the parts that do not matter here. The zero value is an unknown version.
type Version struct {
	Major, Minor int
}

// parseVersion reads `3.6.11`, `2.9.42.1` and `3.5-beta1`. Any other text is an unknown version.
func parseVersion(s string) (v Version) {
	if _, err := fmt.Sscanf(s, "%d.%d", &v.Major, &v.Minor); err != nil || v.Major < 0 || v.Minor < 0 {
		return Version{}
	}
	return v
}
