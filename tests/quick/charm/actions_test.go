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

// Juju reads what is typed as YAML: IDs and names without a letter are numbers then, which a
// parameter of type string refuses ("must be of type string, given 3974").
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

// Juju validates what was given before it fills in the defaults, so that a
// required parameter with a default is missing all the same.
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

// typed is what Juju's command line makes of a parameter's value.
func typed(t *testing.T, value string) any {
	t.Helper()
	var parsed any
	require.NoError(t, yaml.Unmarshal([]byte(value), &parsed))
	return parsed
}

// sent is what arrives after Juju's API has carried a value as JSON: every
// number is a float64 then.
func sent(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	var arrived any
	require.NoError(t, json.Unmarshal(data, &arrived))
	return arrived
}

func TestIDs_every_form_is_accepted(t *testing.T) {
	tests := map[string]struct {
		typed string
		want  any // as Juju's command line reads it
	}{
		"letters":                     {"13fe", "13fe"},
		"digits":                      {"3974", 3974},
		"digits after a zero":         {"0017", 15},
		"nearly octal":                {"0089", "0089"},
		"two digits":                  {"17", 17},
		"binary":                      {"0b11", 3},
		"six digits":                  {"130000", 130000},
		"exponent without a sign":     {"1e10", "1e10"},
		"exponent of two digits":      {"13e4", "13e4"},
		"quoted digits":               {`"3974"`, "3974"},
		"full UUID":                   {"f3be898b-e8e4-4719-b344-902444227dd7", "f3be898b-e8e4-4719-b344-902444227dd7"},
		"UUID whose start is digits":  {"39740000-e8e4-4719-b344-902444227dd7", "39740000-e8e4-4719-b344-902444227dd7"},
		"exponent of another client":  {"1.0e+10", 1e10},
		"more than an integer's bits": {"12345678901234567890", uint64(12345678901234567890)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := typed(t, test.typed)
			assert.Equal(t, test.want, got)
			for _, given := range []any{got, sent(t, got)} {
				for action, ids := range map[string][]string{
					"kick":         {"sb-identity", "nb-identity"},
					"cluster-kick": {"sb-server-id", "nb-server-id"},
				} {
					for _, id := range ids {
						spec := actionSpec(t, action)
						err := spec.ValidateParams(map[string]any{id: given, "i-really-mean-it": true})
						assert.NoError(t, err, "%s %s=%v (%T)", action, id, given, given)
					}
				}
			}
		})
	}
}

// A float would have lost digits by the time the charm sees it: no four digits
// become one, whichever server ID the cluster has drawn.
func TestIDs_four_digits_are_string_or_integer(t *testing.T) {
	kinds := map[string]int{}
	for id := range 1 << 16 {
		kinds[fmt.Sprintf("%T", typed(t, fmt.Sprintf("%04x", id)))]++
	}
	assert.Equal(t, map[string]int{"string": 1<<16 - 9516, "int": 9516}, kinds)
}

func TestParameters_wrong_ones_are_refused_by_Juju(t *testing.T) {
	tests := map[string]struct {
		action string
		given  string // as typed, separated by spaces
		want   string
	}{
		"format that isn't there":    {"cluster-status", "format=xml", "format"},
		"format as a number":         {"cluster-status", "format=7", "format"},
		"misspelt parameter":         {"cluster-status", "fromat=yaml", "fromat"},
		"identity that is a boolean": {"kick", "sb-identity=true i-really-mean-it=true", "sb-identity"},
		"identity that is a list":    {"kick", "nb-identity=[13fe] i-really-mean-it=true", "nb-identity"},
		"identity left empty":        {"kick", "nb-identity= i-really-mean-it=true", "nb-identity"},
		"earlier name":               {"kick", "sb-server-id=13fe i-really-mean-it=true", "sb-server-id"},
		"later name":                 {"cluster-kick", "sb-identity=13fe i-really-mean-it=true", "sb-identity"},
		"consent in other words":     {"kick", "sb-identity=13fe i-really-mean-it=please", "i-really-mean-it"},
		"force as a word":            {"kick", "sb-identity=13fe force=hard", "force"},
		"pause of something":         {"pause", "services=ovn-northd", "services"},
		"services as a list":         {"restart-services", "services=[ovn-northd]", "services"},
		"deferred-only as a word":    {"restart-services", "deferred-only=all", "deferred-only"},
		"events in another form":     {"show-deferred-events", "format=xml", "format"},
		"unit as a number":           {"kick", "unit=4 i-really-mean-it=true", "unit"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			given := map[string]any{}
			for _, pair := range strings.Fields(test.given) {
				key, value, _ := strings.Cut(pair, "=")
				given[key] = typed(t, value)
			}
			spec := actionSpec(t, test.action)
			assert.ErrorContains(t, spec.ValidateParams(given), test.want)
		})
	}
}

// The charm itself refuses a kick without consent: only it can say why, and a
// dry run needs none.
func TestParameters_judged_by_charm_pass_Juju(t *testing.T) {
	tests := map[string]struct {
		action string
		given  map[string]any
	}{
		"nothing":                {"kick", nil},
		"consent refused":        {"kick", map[string]any{"nb-identity": "77eb", "i-really-mean-it": false}},
		"dry run":                {"kick", map[string]any{"nb-identity": "77eb", "dry-run": true}},
		"unit":                   {"kick", map[string]any{"unit": "ovn-central/4", "i-really-mean-it": true}},
		"all of the old runbook": {"cluster-kick", map[string]any{"sb-server-id": "13fe", "nb-server-id": "77eb", "i-really-mean-it": true}},
		"all of a restart":       {"restart-services", map[string]any{"deferred-only": false, "services": "ovn-northd ovn-central", "run-hooks": false}},
		"resume":                 {"resume", nil},
		"status in yaml":         {"cluster-status", map[string]any{"format": "yaml"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := actionSpec(t, test.action)
			assert.NoError(t, spec.ValidateParams(test.given))
		})
	}
}
