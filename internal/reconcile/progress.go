package reconcile

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// progress is what a pass knows that its own steps change, and what it has found out of the
// machine for as long as they don't.
type progress struct {
	// jujuLeader is what Juju has last said at the time at, at which what the leader publishes was read, too; false also
	// once it has refused what only the leader may.
	jujuLeader bool
	at         time.Time
	// clusters are those that the application has agreed on, this unit's own claim included.
	clusters relation.Clusters
	// accepted are the recoveries that the Juju leader has accepted, this unit's own acceptance included.
	accepted map[ovndb.Database]recovery.Acceptance
	// migrated reports whether only the units' records have the clusters' IDs: Juju has no leader
	// settings any more, and the application's data don't have them yet.
	migrated bool
	// unmended is why a server could not write its file again, if it could not.
	unmended map[ovndb.Database]string
	serving  map[ovndb.Database]serving
	// northd is what the last hook has found of all units' ovn-northd.
	northd plan.Northd
}

// newProgress is that of a pass for which Juju is asked now.
func newProgress(now time.Time) *progress {
	return &progress{
		at: now, accepted: map[ovndb.Database]recovery.Acceptance{}, unmended: map[ovndb.Database]string{}, serving: map[ovndb.Database]serving{},
	}
}
