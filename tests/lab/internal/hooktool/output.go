package hooktool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	// Juju's fork, by the replace line in go.mod: it is what Juju's tools print
	// and parse with.
	"gopkg.in/yaml.v2"
)

// output is the --format and -o of a tool.
type output struct {
	format string
	file   string
}

func (o *output) flags(f flags, initial string, formats ...string) {
	o.format = initial
	f.function(func(v string) error {
		for _, known := range append(formats, initial) {
			if v == known {
				o.format = v
				return nil
			}
		}
		return fmt.Errorf("unknown format %q", v)
	}, "format")
	f.text(&o.file, "o", "output")
}

// write prints value in the chosen format, to the call's output or its file.
func (o *output) write(c *call, value any) error {
	var text []byte
	var err error
	switch o.format {
	case "json":
		text, err = json.Marshal(value)
		text = append(text, '\n')
	case "yaml":
		text, err = asYAML(value)
	default:
		text, err = smart(value)
	}
	if err != nil {
		return err
	}
	if o.file == "" {
		_, err = c.stdout.Write(text)
		return err
	}
	path := o.file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.request.Dir, path)
	}
	return os.WriteFile(path, text, 0o600)
}

// smart is Juju's default format: strings as they are, a list of strings in
// lines, True or False, nothing for nothing, and YAML for the rest.
func smart(value any) ([]byte, error) {
	text := ""
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		text = v
	case []string:
		text = strings.Join(v, "\n")
	case bool:
		text = "False"
		if v {
			text = "True"
		}
	default:
		return asYAML(value)
	}
	if text == "" {
		return nil, nil
	}
	return []byte(text + "\n"), nil
}

func asYAML(value any) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(text, "\n"), '\n'), nil
}
