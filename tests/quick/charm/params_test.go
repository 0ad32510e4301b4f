package charm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v2" // replaced in go.mod by Juju's fork, which reads what is typed
)

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

func TestEveryWayToWriteAnIDIsAccepted(t *testing.T) {
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
func TestFourDigitIDsAreReadAsStringsOrIntegersOnly(t *testing.T) {
	kinds := map[string]int{}
	for id := range 1 << 16 {
		kinds[fmt.Sprintf("%T", typed(t, fmt.Sprintf("%04x", id)))]++
	}
	assert.Equal(t, map[string]int{"string": 1<<16 - 9516, "int": 9516}, kinds)
}

func TestWrongParametersAreRefusedByJuju(t *testing.T) {
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
func TestWhatTheCharmJudgesPassesJuju(t *testing.T) {
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
