package node

import (
	"cmp"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// Default times of the steps of a decommission, from the specification.
const (
	DefaultClearTimeout  = 1800 * time.Second
	DefaultMemberTimeout = 1800 * time.Second
	DefaultReadyTimeout  = 600 * time.Second
)

// Timeout bounds a command on nodes. An operation that takes longer is recorded in the database: if the command is run
// again, it joins the operation.
const Timeout = 3 * time.Hour

// Request is a request for an operation on a node. Each operation uses only some of the fields.
type Request struct {
	// Node names the node, in a form that [maintenance.Resolve] accepts. Reason is for people.
	Node, Reason string
	// Hold is the name of the hold to set or to release.
	Hold string
	// DryRun only shows what would be done. Confirmed allows operations that interrupt traffic or can't be undone.
	DryRun, Confirmed bool
	// Limits are the limits of a drain.
	Limits maintenance.Limits
	// Wait is how long an undrain waits for the node, and then for its gateways; 0 skips the proof.
	Wait time.Duration
	// Clear, Member and Ready bound the steps of a decommission that follow the drain.
	Clear, Member, Ready time.Duration
	// MinMembers is how many members of each database must be up in the end; 0 means a majority.
	MinMembers int
	// Force is for a node that is proved unreachable: its drain does not wait for ports, and its ports are taken off it.
	Force bool
	// DropFiles makes the answer describe how to delete the files that a member leaves on its machine. They can only be
	// deleted there.
	DropFiles bool

	// retire reports whether a drain is the first step of a decommission, which waits for the charm's units, too.
	retire bool
}

// resolve returns the node that a name means, or why it means none.
func (x snapshot) resolve(id string) (maintenance.Node, *answer.Status) {
	n, refused := maintenance.Resolve(x.nodes, id)
	if refused != nil {
		refused = cmp.Or(maintenance.OfOtherOVN(x.inventory.State, id), refused)
	}
	return n, refused
}
