package charm_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/juju/charm/v12"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// contract is the part of the Python charm on which users rely, as Juju's own code reads it.
type contract struct {
	meta    *charm.Meta
	config  *charm.Config
	actions *charm.Actions
}

func pythonCharm(t *testing.T) contract {
	t.Helper()
	text, err := os.ReadFile("testdata/python-charm.yaml")
	require.NoError(t, err)
	var facts struct {
		Endpoints, Options, Actions map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &facts))
	document := func(content map[string]any) *bytes.Reader {
		text, err := yaml.Marshal(content)
		require.NoError(t, err)
		return bytes.NewReader(text)
	}
	var c contract
	facts.Endpoints["name"], facts.Endpoints["summary"], facts.Endpoints["description"] = "ovn-central", "facts", "facts"
	c.meta, err = charm.ReadMeta(document(facts.Endpoints))
	require.NoError(t, err)
	c.config, err = charm.ReadConfig(document(map[string]any{"options": facts.Options}))
	require.NoError(t, err)
	c.actions, err = charm.ReadActionsYaml("ovn-central", document(facts.Actions))
	require.NoError(t, err)
	return c
}

// A refresh keeps all relations: Juju refuses it if an endpoint in use is missing or differs.
func TestEndpoints_are_those_of_Python_charm(t *testing.T) {
	assert.Equal(t, pythonCharm(t).meta.CombinedRelations(), readCharm(t).Meta().CombinedRelations())
}

// Unused endpoints and options, which exist for compatibility, say so.
func TestUnused_endpoints_and_options_say_why(t *testing.T) {
	metadata, err := os.ReadFile(root + "/metadata.yaml")
	require.NoError(t, err)
	assert.Regexp(t, `  # Unused\. .*\(layer-coordinator\)(?:.*\n  #)+.*\n  coordinator:\n`, string(metadata))
	assert.Regexp(t, `^Not used: `, readCharm(t).Config().Options["snapd_refresh"].Description)
}

// A refresh keeps the set options: names, types and defaults are the same. Juju refuses another type.
func TestOptions_are_those_of_Python_charm_and_agent(t *testing.T) {
	type option struct {
		kind     string
		fallback any
	}
	read := func(config *charm.Config) map[string]option {
		all := map[string]option{}
		for name, o := range config.Options {
			all[name] = option{o.Type, o.Default}
		}
		return all
	}
	want := read(pythonCharm(t).config)
	for name, addition := range map[string]option{
		"cluster-status-format":     {"string", "text"},
		"agent-mode":                {"string", "advise"},
		"leader-lease-ttl":          {"int", int64(5)},
		"leader-api-port":           {"int", int64(16401)},
		"gateway-hold-down":         {"int", int64(120)},
		"schedule-neutron-gateways": {"boolean", false},
		"agent-cordon-new-chassis":  {"boolean", false},
		"backup-interval":           {"int", int64(0)},
		"backup-keep":               {"int", int64(7)},
	} {
		require.NotContains(t, want, name)
		want[name] = addition
	}
	assert.Equal(t, want, read(options(t)))
}

// Each action of the Python charm has the same parameters and defaults, and requires no others. It may have more.
func TestActions_of_Python_charm_keep_parameters(t *testing.T) {
	for name, took := range pythonCharm(t).actions.ActionSpecs {
		wanted, _ := took.Params["required"].([]any)
		required, _ := actionSpec(t, name).Params["required"].([]any)
		assert.Subset(t, wanted, required, name)
		properties, _ := took.Params["properties"].(map[string]any)
		for param, schema := range properties {
			require.Contains(t, params(t, name), param, name)
			was, is := schema.(map[string]any), params(t, name)[param].(map[string]any)
			if was["default"] != "" || is["default"] != nil { // an empty text is the same as none
				assert.Equal(t, was["default"], is["default"], "%s %s", name, param)
			}
			if several, ok := was["type"].([]any); ok {
				assert.Subset(t, is["type"], several, "%s %s", name, param)
				continue
			}
			assert.Equal(t, was["type"], is["type"], "%s %s", name, param)
		}
	}
}
