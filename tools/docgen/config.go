package main

import (
	"strings"

	"gopkg.in/yaml.v3"
)

const configIntro = `# Configuration

<!-- Written by "make generate" from config.yaml. -->
`

// configPage describes config.yaml, in its order.
func configPage(source []byte) ([]byte, error) {
	var file struct {
		Options yaml.Node `yaml:"options"`
	}
	if err := yaml.Unmarshal(source, &file); err != nil {
		return nil, err
	}
	var out strings.Builder
	out.WriteString(configIntro)
	if len(file.Options.Content) == 0 {
		out.WriteString("\nThere is nothing to configure in this release.\n")
		return []byte(out.String()), nil
	}
	err := writeTable(&out, "Option", &file.Options)
	return []byte(out.String()), err
}
