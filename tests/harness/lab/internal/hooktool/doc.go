// Package hooktool is the lab's set of Juju hook tools. A hook calls a tool by its name;
// the tool's client (tests/harness/lab/hooktool) sends its arguments over the socket that the
// hook's environment names, and [Context.Run] answers from the model, with the answers,
// error texts and exit codes of Juju 3.6's jujuc. Of each tool there are the forms in
// which the charm calls it.
package hooktool

import (
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Names are the tools that there are: those that the charm calls. One that calls another
// of Juju's finds no such program.
func Names() []string { return slices.Sorted(maps.Keys(tools)) }

// NamesIn are the tools of one Juju: 4 has no leader settings any more (its
// documentation, list of hook commands).
func NamesIn(w model.Ways) []string {
	names := Names()
	if w.NoLeaderSettings {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "leader-get" || name == "leader-set" })
	}
	return names
}
