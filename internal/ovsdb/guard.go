package ovsdb

import (
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Guard is the condition of a transaction on external_ids of NB_Global. It compares single pairs only, since other
// clients write to the same map all the time.
type Guard struct {
	// Has are required pairs, Lacks forbidden ones.
	Has, Lacks map[string]string
	// NoCandidate is a chassis that must not be in any list of candidates of NB.
	NoCandidate string
}

func (g Guard) empty() bool { return len(g.Has)+len(g.Lacks) == 0 && g.NoCandidate == "" }

// operations returns operations that fail the transaction if the row with this UUID does not fit.
func (g Guard) operations(uuid string) []ovsdb.Operation {
	var conditions []ovsdb.Condition
	if len(g.Has) > 0 {
		conditions = append(conditions, includes(externalIDs, pairs(g.Has)))
	}
	if len(g.Lacks) > 0 {
		conditions = append(conditions, ovsdb.NewCondition(externalIDs, ovsdb.ConditionExcludes, pairs(g.Lacks)))
	}
	ops := []ovsdb.Operation{fits(ovndb.NB.GlobalTable(), uuid, conditions...)}
	if g.NoCandidate != "" {
		for _, table := range []string{"Gateway_Chassis", "HA_Chassis"} {
			ops = append(ops, none(table, chassisColumn, equals(chassisColumn, g.NoCandidate)))
		}
	}
	return ops
}

// Amendment is a change of external_ids of NB_Global and of the journal.
type Amendment struct {
	// Put are pairs to set, Drop keys to remove.
	Put  map[string]string
	Drop []string
	// Added are the texts of new rows of the journal. Changed are new texts of existing rows, by UUID. Dropped are the
	// UUIDs of rows to delete.
	Added   []string
	Changed map[string]string
	Dropped []string
}
