package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const configIntro = `# Configuration

<!-- Written by "make generate" from config.yaml. -->

Set an option with ` + "`juju config ovn-central OPTION=VALUE`" + `, and go back to its default with
` + "`juju config ovn-central --reset OPTION`" + `. With Juju 4 a reset runs no hook: it takes effect with the next
` + "`update-status`" + `, at most five minutes later; ` + "`OPTION=VALUE`" + ` takes effect at once.
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
	err := eachEntry(&file.Options, func(name string, value *yaml.Node) error {
		var o param
		if err := value.Decode(&o); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
		fmt.Fprintf(&out, "\n## %s\n\n*%s*\n\n%s\n", name, o.kindAndDefault(), strings.TrimSpace(o.Description))
		return nil
	})
	return []byte(out.String()), err
}
