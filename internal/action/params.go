package action

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// params are an action's parameters. Juju has checked them against actions.yaml,
// but other clients than its own may send what they like.
type params map[string]any

func (p params) flag(key string) (bool, error) {
	switch v := p[key].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	}
	return false, fmt.Errorf("parameter %s is %v: it takes true or false", key, p[key])
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
	return "", fmt.Errorf("parameter %s is %v: it takes a text", key, p[key])
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
	return raft.IDArgument{}, false, fmt.Errorf("parameter %s is %v: it takes a server ID, at least the four digits that cluster-status shows", key, p[key])
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
