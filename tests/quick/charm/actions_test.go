package charm_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/action"
)

// listWidth is what fits, after the longest name, on one line of what
// `juju actions` prints in a terminal of 100 columns.
const listWidth = 80

func actionSpec(t *testing.T, name string) charm.ActionSpec {
	t.Helper()
	spec, ok := readCharm(t).Actions().ActionSpecs[name]
	require.True(t, ok, "no action %s in actions.yaml", name)
	return spec
}

func params(t *testing.T, action string) map[string]any {
	t.Helper()
	properties, ok := actionSpec(t, action).Params["properties"].(map[string]any)
	require.True(t, ok)
	return properties
}

func TestEveryActionHasAHandlerAndTheReverse(t *testing.T) {
	specs := readCharm(t).Actions().ActionSpecs
	assert.Equal(t, slices.Sorted(maps.Keys(specs)), slices.Sorted(slices.Values(action.Names())))
}

func TestActionsAndTheirParametersAreDescribed(t *testing.T) {
	for name, spec := range readCharm(t).Actions().ActionSpecs {
		summary, rest, _ := strings.Cut(spec.Description, "\n")
		assert.LessOrEqual(t, len(summary), listWidth, "%s: %q", name, summary)
		assert.True(t, strings.HasSuffix(summary, "."), "%s: %q is cut off in juju actions", name, summary)
		assert.NotEmpty(t, strings.TrimSpace(rest), name)
		for param, schema := range params(t, name) {
			assert.NotEmpty(t, schema.(map[string]any)["description"], "%s %s", name, param)
		}
		examples := map[string]any{}
		for param, schema := range params(t, name) {
			all, _ := schema.(map[string]any)["examples"].([]any)
			if assert.NotEmpty(t, all, "%s %s", name, param) {
				examples[param] = all[0]
			}
		}
		assert.NoError(t, spec.ValidateParams(examples), "the examples of %s", name)
	}
}

// Juju reads what is typed as YAML: IDs and names without a letter are numbers then, which a
// parameter of type string refuses ("must be of type string, given 3974").
func TestWhatNamesAThingMayBeANumber(t *testing.T) {
	for name := range readCharm(t).Actions().ActionSpecs {
		for param, schema := range params(t, name) {
			switch param {
			case "nb-identity", "sb-identity", "nb-server-id", "sb-server-id", "give-up", "node", "network", "name", "reason":
				assert.Equal(t, []any{"string", "integer", "number"}, schema.(map[string]any)["type"], "%s %s", name, param)
			}
		}
	}
	for _, typed := range []any{"3974", 3974, 130000.0} {
		spec := actionSpec(t, "recover")
		assert.NoError(t, spec.ValidateParams(map[string]any{"give-up": typed}), typed)
	}
}

// Juju validates what was given before it fills in the defaults, so that a
// required parameter with a default is missing all the same.
func TestNoParameterIsBothRequiredAndDefaulted(t *testing.T) {
	for name, spec := range readCharm(t).Actions().ActionSpecs {
		required, _ := spec.Params["required"].([]any)
		for _, param := range required {
			schema := params(t, name)[param.(string)].(map[string]any)
			assert.NotContains(t, schema, "default", "%s %s", name, param)
		}
	}
}

func TestClusterKickIsKickUnderTheEarlierNames(t *testing.T) {
	want := maps.Clone(params(t, "kick"))
	want["sb-server-id"], want["nb-server-id"] = want["sb-identity"], want["nb-identity"]
	delete(want, "sb-identity")
	delete(want, "nb-identity")
	assert.Equal(t, want, params(t, "cluster-kick"))
}

func TestDefaultsAreFilledIn(t *testing.T) {
	tests := map[string]struct {
		action string
		want   map[string]any
	}{
		"cluster-status": {"cluster-status", map[string]any{}},
		"kick":           {"kick", map[string]any{"unit-in-model": false, "force": false, "dry-run": false}},
		"cluster-kick":   {"cluster-kick", map[string]any{"unit-in-model": false, "force": false, "dry-run": false}},
		"backup":         {"backup", map[string]any{"path": "", "keep": 7.0, "dry-run": false}},
		"restart-services": {"restart-services", map[string]any{
			"deferred-only": false, "services": "", "run-hooks": true,
		}},
		"show-deferred-events": {"show-deferred-events", map[string]any{}},
		"run-deferred-hooks":   {"run-deferred-hooks", map[string]any{}},
		"pause":                {"pause", map[string]any{"force": false}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := actionSpec(t, test.action)
			got, err := spec.InsertDefaults(nil)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}
