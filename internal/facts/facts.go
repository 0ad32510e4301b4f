// Package facts has what a hook or an action knows of its unit. Steps and managers depend on it.
package facts

import (
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Facts are a snapshot, further answers of Juju, and the last decision. A step or a manager does not change them: the
// unit is observed again after each step.
type Facts struct {
	observe.Snapshot
	Report    observe.Report
	Addresses observe.Addresses
	// Known is the part of a decision's input that does not depend on the machine; State is the whole input.
	Known, State plan.State
	Decision     plan.Decision
	// Clients are the relations to applications that use the databases. They are known only if Thorough is set.
	Clients []observe.Client
	// Thorough makes Juju answer everything. Looks is set if the state is only shown, Preview if nothing is changed.
	Thorough, Looks, Preview bool
}
