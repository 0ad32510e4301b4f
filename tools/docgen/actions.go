package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// actionsIntro says what holds for every action.
const actionsIntro = `# Actions

<!-- Written by "make generate" from actions.yaml. -->

Run an action on one unit:

| Juju | Command |
|---|---|
| 3.x, 4 | ` + "`juju run ovn-central/0 ACTION PARAMETER=VALUE…`" + ` |
| 2.9 | ` + "`juju run-action ovn-central/0 ACTION PARAMETER=VALUE… --wait`" + ` |

` + "`juju run`" + ` waits for a minute, unless it is told to wait longer: ` + "`--wait=30m`" + `. After that it ends with ` + "`timed out waiting for results`" + `;
the action goes on, and ` + "`juju show-operation`" + ` has its result, by the number that ` + "`juju run`" + ` printed first.
`

// action is what the page tells of an entry of actions.yaml.
type action struct {
	Description string    `yaml:"description"`
	Params      yaml.Node `yaml:"params"` // a node, to keep the order
}

// param is what a page tells of a parameter, by a part of JSON schema, or of an
// option.
type param struct {
	Type        oneOrMore `yaml:"type"`
	Description string    `yaml:"description"`
	Default     any       `yaml:"default"`
	Enum        []string  `yaml:"enum"`
}

// oneOrMore is a JSON schema's type: a name, or a list of names.
type oneOrMore []string

// UnmarshalYAML reads either form.
func (o *oneOrMore) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*o = oneOrMore{node.Value}
		return nil
	}
	return node.Decode((*[]string)(o))
}

// actionsPage describes actions.yaml, in its order.
func actionsPage(source []byte) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(source, &file); err != nil {
		return nil, err
	}
	var out strings.Builder
	out.WriteString(actionsIntro)
	err := eachEntry(&file, func(name string, value *yaml.Node) error {
		var a action
		if err := value.Decode(&a); err != nil {
			return fmt.Errorf("action %s: %w", name, err)
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", name, strings.TrimSpace(a.Description))
		if a.Params.IsZero() {
			return nil
		}
		return writeTable(&out, &a.Params)
	})
	return []byte(out.String()), err
}

// writeTable lists parameters.
func writeTable(out *strings.Builder, entries *yaml.Node) error {
	out.WriteString("\n| Parameter | Type | Default | Meaning |\n|---|---|---|---|\n")
	return eachEntry(entries, func(name string, value *yaml.Node) error {
		var p param
		if err := value.Decode(&p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", name, p.kind(), defaultCell(p.Default), cell(p.Description))
		return nil
	})
}

// kind is the type as a person would put it.
func (p param) kind() string {
	if len(p.Enum) > 0 {
		return "`" + strings.Join(p.Enum, "`, `") + "`"
	}
	return strings.Join(p.Type, ", ")
}

func defaultCell(value any) string {
	switch value {
	case nil:
		return ""
	case "":
		return "empty"
	}
	return fmt.Sprintf("`%v`", value)
}

// cell is text in a table: on one line, without what would end the cell.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// eachEntry calls visit for each entry of a mapping, in the file's order.
func eachEntry(node *yaml.Node, visit func(name string, value *yaml.Node) error) error {
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: not a mapping", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if err := visit(node.Content[i].Value, node.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}
