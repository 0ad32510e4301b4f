package hooktool

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v2"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// Limits of charm state, in bytes (Juju's core/quota/fixed_limits.go).
const (
	maxStateKey   = 256
	maxStateValue = 64 * 1024
)

// withFile adds the pairs of a --file to those of the arguments, which win. The
// file is YAML, so JSON too; "-" is the tool's input.
func (c *call) withFile(path string, values map[string]string) (map[string]string, error) {
	if path == "" {
		return values, nil
	}
	var text []byte
	var err error
	switch {
	case path == "-" && c.request.Stdin == nil:
		return nil, errNeedStdin
	case path == "-":
		text = *c.request.Stdin
	default:
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.request.Dir, path)
		}
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	all := map[string]string{}
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(all); err != nil && len(bytes.TrimSpace(text)) > 0 {
		return nil, err
	}
	maps.Copy(all, values)
	return all, nil
}

func (c *call) state() map[string]string {
	if c.charmState == nil {
		c.Model.Do(func(s *model.State) { c.charmState = maps.Clone(s.Units[c.Unit].Charm) })
	}
	return c.charmState
}

func stateGet(c *call) error {
	var out output
	var strict bool
	f := flags{}
	out.flags(f, "smart", "json", "yaml")
	f.boolean(&strict, "strict")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	key := ""
	if len(args) > 0 {
		key, args = args[0], args[1:]
	}
	if err := none(args); err != nil {
		return usage(err)
	}
	if key == "" || key == "-" {
		all := maps.Clone(c.state())
		if len(all) == 0 {
			all = nil
		}
		return out.write(c, all)
	}
	value, found := c.state()[key]
	if !found && strict {
		return fmt.Errorf("%q not found", key)
	}
	return out.write(c, value)
}

func stateSet(c *call) error {
	var file string
	f := flags{}
	f.text(&file, "file")
	args, err := f.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	values, err := keyValues(args)
	if err != nil {
		return usage(err)
	}
	if values, err = c.withFile(file, values); err != nil {
		return err
	}
	for key, value := range values {
		switch {
		case len(key) > maxStateKey:
			return fmt.Errorf("max allowed key length (%d) exceeded", maxStateKey)
		case len(value) > maxStateValue:
			return fmt.Errorf("max allowed value length (%d) exceeded", maxStateValue)
		}
		if old, found := c.state()[key]; !found || old != value {
			c.state()[key] = value
			c.stateDirty = true
		}
	}
	return nil
}

func stateDelete(c *call) error {
	args, err := flags{}.parse(c.request.Args)
	if err != nil {
		return usage(err)
	}
	if len(args) == 0 { // Juju takes it for nothing to do
		return nil
	}
	if err := none(args[1:]); err != nil {
		return usage(err)
	}
	if _, found := c.state()[args[0]]; found {
		delete(c.state(), args[0])
		c.stateDirty = true
	}
	return nil
}
