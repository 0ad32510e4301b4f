package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// actionsIntro is the introduction, about every action.
const actionsIntro = `# Actions

<!-- Written by "make generate" from actions.yaml. -->

Run an action on one unit:

| Juju | Command |
|---|---|
| 3.x, 4 | ` + "`juju run ovn-central/0 ACTION PARAMETER=VALUE…`" + ` |
| 2.9 | ` + "`juju run-action ovn-central/0 ACTION PARAMETER=VALUE… --wait`" + ` |

` + "`juju run`" + ` waits for a minute, or for as long as this says: ` + "`--wait=30m`" + `.
After that it ends with ` + "`timed out waiting for results`" + `; the action continues,
and ` + "`juju show-task`" + ` has its result, by the number of the task that ` + "`juju run`" + `
printed first (` + "`juju show-operation`" + ` has none with Juju 4; 2.9 has
` + "`juju show-action-output`" + `). ` + "`juju run`" + ` itself ends with 0 if an action
failed or was refused: scripts read ` + "`status` of `juju run --format json`" + `.
`

// action is the described part of an entry of actions.yaml.
type action struct {
	Description string    `yaml:"description"`
	Params      yaml.Node `yaml:"params"` // a node, to keep the order
}

// param is the described part of a parameter, by JSON schema, or of an option.
type param struct {
	Type        oneOrMore `yaml:"type"`
	Description string    `yaml:"description"`
	Default     any       `yaml:"default"`
	Enum        []string  `yaml:"enum"`
	Examples    []any     `yaml:"examples"`
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
	described := map[string]place{}
	err := eachEntry(&file, func(name string, value *yaml.Node) error {
		var a action
		if err := value.Decode(&a); err != nil {
			return fmt.Errorf("action %s: %w", name, err)
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", name, strings.TrimSpace(a.Description))
		if a.Params.IsZero() {
			return nil
		}
		return writeParams(&out, name, &a.Params, described)
	})
	return []byte(out.String()), err
}

// place is the parameter with the first description of a meaning.
type place struct{ action, param string }

// reference returns the link from a parameter to the description of its meaning.
func (p place) reference(action, param string) string {
	switch {
	case p.action == action:
		return fmt.Sprintf("as `%s`", p.param)
	case p.param == param:
		return fmt.Sprintf("[as of %s](#%s)", p.action, p.action)
	}
	return fmt.Sprintf("[as `%s` of %s](#%s)", p.param, p.action, p.action)
}

// writeParams lists an action's parameters. A long meaning that is in described is not repeated.
func writeParams(out *strings.Builder, action string, entries *yaml.Node, described map[string]place) error {
	out.WriteString("\n")
	return eachEntry(entries, func(name string, value *yaml.Node) error {
		var p param
		if err := value.Decode(&p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		meaning := fmt.Sprintf(" (%s): %s%s", p.kindAndDefault(), strings.Join(strings.Fields(p.Description), " "),
			p.example())
		if first, found := described[meaning]; found && len(meaning) > 40 {
			meaning = ": " + first.reference(action, name)
		} else if !found {
			described[meaning] = place{action, name}
		}
		fmt.Fprintf(out, "- `%s`%s\n", name, meaning)
		return nil
	})
}

// kindAndDefault returns the type in words, and the default unless it is empty.
func (p param) kindAndDefault() string {
	kind := strings.Join(p.Type, ", ")
	switch {
	case len(p.Enum) > 0:
		kind = "`" + strings.Join(p.Enum, "`, `") + "`"
	case len(p.Type) > 1 && slices.Contains(p.Type, "string"): // the others are what Juju makes of some strings
		kind = "string"
	}
	if p.Default == nil || p.Default == "" || p.Default == false {
		return kind
	}
	return fmt.Sprintf("%s; default `%v`", kind, p.Default)
}

// example returns an example, if it says more than the type.
func (p param) example() string {
	if len(p.Examples) == 0 || len(p.Enum) > 0 || slices.Contains(p.Type, "integer") && len(p.Type) == 1 ||
		slices.Contains(p.Type, "boolean") || strings.Contains(p.Description, fmt.Sprint(p.Examples[0])) {
		return ""
	}
	return fmt.Sprintf(" Example: `%v`.", p.Examples[0])
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
