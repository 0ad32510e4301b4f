package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const configIntro = `# Configuration

<!-- Written by "make generate" from config.yaml. -->

Set an option with ` + "`juju config ovn-central OPTION=VALUE`" + `, and go back to its default with
` + "`juju config ovn-central --reset OPTION`" + `.

| Option | Type | Default |
|---|---|---|
`

// configPage describes config.yaml, in its order: a table of all options, and
// what each does.
func configPage(source []byte) ([]byte, error) {
	var file struct {
		Options yaml.Node `yaml:"options"`
	}
	if err := yaml.Unmarshal(source, &file); err != nil {
		return nil, err
	}
	var table, sections strings.Builder
	table.WriteString(configIntro)
	err := eachEntry(&file.Options, func(name string, value *yaml.Node) error {
		var o param
		if err := value.Decode(&o); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
		fmt.Fprintf(&table, "| [`%s`](#%s) | %s | %s |\n", name, name, o.kind(), defaultCell(o.Default))
		fmt.Fprintf(&sections, "\n## %s\n\n%s\n", name, strings.TrimSpace(o.Description))
		return nil
	})
	return []byte(table.String() + sections.String()), err
}
