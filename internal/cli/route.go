// Package cli is the command tree, and the way from what Juju or a person has
// typed to a command.
package cli

import (
	"path/filepath"
	"strings"
)

// The two kinds of things that Juju runs, which are also the names of folders in
// a charm and of our commands, but for the plural.
const (
	hooks   = "hooks"
	actions = "actions"
)

// Route maps what was run to the arguments of a command: first what Juju says by
// JUJU_DISPATCH_PATH ("hooks/stop", "actions/kick"), for it runs `dispatch`
// without arguments; then the name that the binary was run by, where that stands
// in a charm's folder of hooks or actions; else what was typed.
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
