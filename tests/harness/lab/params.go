package lab

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/juju/charm/v12"
	// Juju's fork, by the replace line in go.mod: which words are numbers differs.
	"gopkg.in/yaml.v2"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
)

// parseParams reads arguments as Juju's client does: key.key=value, with YAML values (3974 is a number, 13e4 is not).
func parseParams(args []string) (map[string]any, error) {
	params := map[string]any{}
	for _, arg := range args {
		path, text, found := strings.Cut(arg, "=")
		if !found {
			return nil, fmt.Errorf("argument %q must be of the form key.key.key...=value", arg)
		}
		keys := strings.Split(path, ".")
		for _, key := range keys {
			if !hooktool.KeyRule.MatchString(key) {
				return nil, fmt.Errorf("key %q must start and end with lowercase alphanumeric, "+
					"and contain only lowercase alphanumeric and hyphens", key)
			}
		}
		var value any = text
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return nil, err
		}
		if err := checkKeys(value); err != nil {
			return nil, err
		}
		hooktool.Nest(params, keys, value)
	}
	return params, nil
}

// checkKeys refuses maps whose keys aren't strings, as Juju's client does. The client doesn't send its conversions of
// other maps: a map inside a value reaches JSON as YAML read it, which JSON then refuses.
func checkKeys(value any) error {
	switch v := value.(type) {
	case map[any]any:
		for key, one := range v {
			if _, is := key.(string); !is {
				return fmt.Errorf("map keyed with non-string value: %v", key)
			}
			if err := checkKeys(one); err != nil {
				return err
			}
		}
	case []any:
		for _, one := range v {
			if err := checkKeys(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// overWire converts parameters as the transport does: every number becomes a float64.
func overWire(params map[string]any) (map[string]any, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	arrived := map[string]any{}
	return arrived, json.Unmarshal(data, &arrived)
}

// actionParams validates the arguments by the action's schema and only then adds its defaults, as the controller does.
func actionParams(spec charm.ActionSpec, args []string) (map[string]any, error) {
	params, err := parseParams(args)
	if err != nil {
		return nil, err
	}
	if params, err = overWire(params); err != nil {
		return nil, err
	}
	if err := spec.ValidateParams(params); err != nil {
		return nil, err
	}
	if params, err = spec.InsertDefaults(params); err != nil {
		return nil, err
	}
	return overWire(params)
}
