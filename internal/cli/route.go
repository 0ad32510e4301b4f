// Package cli is the command tree, and the mapping from what Juju runs or a person types to a command.
package cli

import (
	"path/filepath"
	"strings"
)

// name is the binary's. GatewaysName is its name on machines without the charm, with only what works for any OVN.
const (
	name         = "ovn-central-operator"
	GatewaysName = "ovn-gateways"
)

// What Juju runs: directories of a charm and, in the singular, our commands.
const (
	hooks   = "hooks"
	actions = "actions"
	// dispatch is the name by which Juju runs the binary.
	dispatch = "dispatch"
)

// Route maps a call to the arguments of a command: first by Juju's JUJU_DISPATCH_PATH ("hooks/stop", "actions/kick"),
// since it runs `dispatch` without arguments; then by the binary's name, if that is in a charm's directory of hooks or
// actions; otherwise by the typed arguments.
func Route(args []string, getenv func(string) string) []string {
	if len(args) == 0 {
		return nil
	}
	if filepath.Base(args[0]) == GatewaysName {
		return args[1:]
	}
	if len(args) > 1 {
		return args[1:]
	}
	for _, path := range []string{getenv("JUJU_DISPATCH_PATH"), args[0]} {
		kind, name := filepath.Base(filepath.Dir(path)), filepath.Base(path)
		if kind == hooks || kind == actions {
			return []string{strings.TrimSuffix(kind, "s"), name}
		}
	}
	return nil
}
