package charm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v2" // replaced in go.mod by Juju's fork, which reads what is typed

	"github.com/ovn-central/ovn-central-operator/internal/action"
)

// listWidth is how many characters fit after the longest name on a line that `juju actions` prints in a terminal of
// 100 columns.
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

func TestActions_have_handlers_and_the_reverse(t *testing.T) {
	specs := readCharm(t).Actions().ActionSpecs
	assert.Equal(t, slices.Sorted(maps.Keys(specs)), slices.Sorted(slices.Values(action.Names())))
}

func TestActions_and_parameters_are_described(t *testing.T) {
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

// Juju reads typed values as YAML: IDs and names without a letter become numbers, which a parameter of type string
// refuses ("must be of type string, given 3974").
func TestActions_names_may_be_numbers(t *testing.T) {
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

// Juju validates the typed parameters before it fills in the defaults, so a required parameter with a default is
// still missing.
func TestActions_required_parameter_has_no_default(t *testing.T) {
	for name, spec := range readCharm(t).Actions().ActionSpecs {
		required, _ := spec.Params["required"].([]any)
		for _, param := range required {
			schema := params(t, name)[param.(string)].(map[string]any)
			assert.NotContains(t, schema, "default", "%s %s", name, param)
		}
	}
}

func TestActions_cluster_kick_is_kick_by_earlier_names(t *testing.T) {
	want := maps.Clone(params(t, "kick"))
	want["sb-server-id"], want["nb-server-id"] = want["sb-identity"], want["nb-identity"]
	delete(want, "sb-identity")
	delete(want, "nb-identity")
	assert.Equal(t, want, params(t, "cluster-kick"))
}

// A kick has no consent by default.
func TestActions_defaults(t *testing.T) {
	kick := map[string]any{"unit-in-model": false, "force": false, "dry-run": false}
	for action, want := range map[string]map[string]any{
		"kick": kick, "cluster-kick": kick, "cluster-status": {}, "show-deferred-events": {}, "run-deferred-hooks": {},
		"backup":           {"path": "", "keep": 7.0, "dry-run": false},
		"restart-services": {"deferred-only": false, "services": "", "run-hooks": true},
		"pause":            {"force": false},
	} {
		spec := actionSpec(t, action)
		got, err := spec.InsertDefaults(nil)
		require.NoError(t, err)
		assert.Equal(t, want, got, action)
	}
}

// typed returns a parameter's value as Juju's command line reads it.
func typed(t *testing.T, value string) any {
	t.Helper()
	var parsed any
	require.NoError(t, yaml.Unmarshal([]byte(value), &parsed))
	return parsed
}

// sent returns a value after Juju's API has carried it as JSON: every number is a float64 then.
func sent(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	var arrived any
	require.NoError(t, json.Unmarshal(data, &arrived))
	return arrived
}

func TestIDs_every_form_is_accepted(t *testing.T) {
	for text, want := range map[string]any{ // as Juju's command line reads it
		"13fe": "13fe", "3974": 3974, "0017": 15, "0089": "0089", "17": 17, "0b11": 3, "130000": 130000, "1e10": "1e10",
		"13e4": "13e4", `"3974"`: "3974", "1.0e+10": 1e10, "12345678901234567890": uint64(12345678901234567890),
		"f3be898b-e8e4-4719-b344-902444227dd7": "f3be898b-e8e4-4719-b344-902444227dd7",
		"39740000-e8e4-4719-b344-902444227dd7": "39740000-e8e4-4719-b344-902444227dd7",
	} {
		got := typed(t, text)
		assert.Equal(t, want, got)
		for _, given := range []any{got, sent(t, got)} {
			for action, ids := range map[string][]string{
				"kick": {"sb-identity", "nb-identity"}, "cluster-kick": {"sb-server-id", "nb-server-id"},
			} {
				for _, id := range ids {
					spec := actionSpec(t, action)
					err := spec.ValidateParams(map[string]any{id: given, "i-really-mean-it": true})
					assert.NoError(t, err, "%s %s=%v (%T)", action, id, given, given)
				}
			}
		}
	}
}

// A float would have lost digits when the charm sees it. No four digits become a float, whichever server ID the
// cluster has drawn.
func TestIDs_four_digits_are_string_or_integer(t *testing.T) {
	kinds := map[string]int{}
	for id := range 1 << 16 {
		kinds[fmt.Sprintf("%T", typed(t, fmt.Sprintf("%04x", id)))]++
	}
	assert.Equal(t, map[string]int{"string": 1<<16 - 9516, "int": 9516}, kinds)
}

func TestParameters_wrong_ones_are_refused_by_Juju(t *testing.T) {
	for line, wrong := range map[string]string{ // as typed
		"cluster-status format=xml":                     "format",
		"cluster-status format=7":                       "format",
		"cluster-status fromat=yaml":                    "fromat",
		"kick sb-identity=true i-really-mean-it=true":   "sb-identity",
		"kick nb-identity=[13fe] i-really-mean-it=true": "nb-identity",
		"kick nb-identity= i-really-mean-it=true":       "nb-identity",
		"kick sb-server-id=13fe i-really-mean-it=true":  "sb-server-id",
		"cluster-kick sb-identity=13fe":                 "sb-identity",
		"kick sb-identity=13fe i-really-mean-it=please": "i-really-mean-it",
		"kick sb-identity=13fe force=hard":              "force",
		"kick unit=4 i-really-mean-it=true":             "unit",
		"pause services=ovn-northd":                     "services",
		"restart-services services=[ovn-northd]":        "services",
		"restart-services deferred-only=all":            "deferred-only",
		"show-deferred-events format=xml":               "format",
	} {
		given := map[string]any{}
		words := strings.Fields(line)
		for _, pair := range words[1:] {
			key, value, _ := strings.Cut(pair, "=")
			given[key] = typed(t, value)
		}
		spec := actionSpec(t, words[0])
		assert.ErrorContains(t, spec.ValidateParams(given), wrong, line)
	}
}

// The charm itself refuses a kick without consent: only it can give the reason, and a dry run needs none.
func TestParameters_judged_by_charm_pass_Juju(t *testing.T) {
	for _, c := range []struct {
		action string
		given  map[string]any
	}{
		{"kick", nil},
		{"kick", map[string]any{"nb-identity": "77eb", "i-really-mean-it": false}},
		{"kick", map[string]any{"nb-identity": "77eb", "dry-run": true}},
		{"kick", map[string]any{"unit": "ovn-central/4", "i-really-mean-it": true}},
		{"cluster-kick", map[string]any{"sb-server-id": "13fe", "nb-server-id": "77eb", "i-really-mean-it": true}},
		{"restart-services", map[string]any{"deferred-only": false, "services": "ovn-northd ovn-central", "run-hooks": false}},
		{"resume", nil},
		{"cluster-status", map[string]any{"format": "yaml"}},
	} {
		spec := actionSpec(t, c.action)
		assert.NoError(t, spec.ValidateParams(c.given), "%s %v", c.action, c.given)
	}
}
