package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// params are an action's parameters. Juju has checked them against actions.yaml,
// but other clients than its own may send what they like.
type params map[string]any

// invalid is the refusal of a parameter, with what it takes.
func (p params) invalid(key, want string, ways ...finding.Remedy) error {
	value := fmt.Sprint(p[key])
	if text, ok := p[key].(string); ok {
		value = strconv.Quote(text)
	}
	found := finding.New(finding.ParameterInvalid, finding.Subject{Name: key},
		finding.Args{Detail: "it is " + foreign.Name(value) + ": " + want}, ways...)
	return finding.Refuse([]finding.Finding{found})
}

// oneOf reads a text that has one of these values, or is not given.
func (p params) oneOf(key string, values ...string) (string, error) {
	text, err := p.text(key)
	if err == nil && text != "" && !slices.Contains(values, text) {
		err = p.invalid(key, "it takes one of "+strings.Join(values, ", "))
	}
	return text, err
}

// format is how results are shown.
func (p params) format() (string, error) { return p.oneOf("format", "text", "yaml", "json") }

func (p params) flag(key string) (bool, error) {
	switch v := p[key].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	}
	return false, p.invalid(key, "it takes true or false")
}

// text reads a text, which Juju may have taken for a number: as it writes that number then.
func (p params) text(key string) (string, error) {
	switch v := p[key].(type) {
	case nil:
		return "", nil
	case string:
		return strings.TrimSpace(v), nil
	case json.Number:
		return v.String(), nil
	}
	return "", p.invalid(key, "it takes a text")
}

// identity reads a server ID, which Juju may have taken for a number.
func (p params) identity(key string) (id raft.IDArgument, given bool, err error) {
	switch v := p[key].(type) {
	case nil:
		return raft.IDArgument{}, false, nil
	case string:
		text := strings.TrimSpace(v)
		return raft.IDArgument{Text: text}, text != "", nil
	case json.Number:
		return raft.IDArgument{Text: v.String(), Number: true}, true, nil
	}
	return raft.IDArgument{}, false, p.invalid(key,
		"it takes a server ID, at least the four digits that cluster-status shows")
}

// names reads names of units and server IDs, separated by spaces or commas; a single ID Juju may
// have taken for a number.
func (p params) names(key string) ([]raft.IDArgument, error) {
	text, err := p.text(key)
	if _, number := p[key].(json.Number); number {
		return []raft.IDArgument{{Text: text, Number: true}}, nil
	}
	var all []raft.IDArgument
	for _, name := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }) {
		all = append(all, raft.IDArgument{Text: name})
	}
	return all, err
}
