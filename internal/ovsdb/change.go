package ovsdb

import (
	"maps"
	"slices"

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

// Change is a change of NB in one transaction.
type Change struct {
	Guard Guard
	// Put are pairs to set in external_ids of NB_Global, Drop keys to remove.
	Put   map[string]string
	Drop  []string
	Notes Notes
	// Lists are lists of candidates.
	Lists []Candidates
	// Ask increments nb_cfg, as `ovn-nbctl --wait=sb sync` does: ovn-northd and all ovn-controllers answer that. In the
	// same transaction as other changes it makes ovn-northd compute only once.
	Ask bool
}

// Notes is a change of the journal.
type Notes struct {
	// Added are the texts of new rows. Changed are new texts of existing rows, by UUID. Dropped are the UUIDs of rows to
	// delete.
	Added   []string
	Changed map[string]string
	Dropped []string
}

func (c Change) usesGlobal() bool { return c.Ask || len(c.Put)+len(c.Drop) > 0 || !c.Guard.empty() }

// operations returns the operations of the transaction; uuid is that of the row of NB_Global, if the change uses it.
func (c Change) operations(uuid string) (ops []ovsdb.Operation) {
	if c.usesGlobal() {
		ops = c.Guard.operations(uuid)
	}
	if gone := append(slices.Sorted(maps.Keys(c.Put)), c.Drop...); len(gone) > 0 {
		ops = append(ops, amended(ovndb.NB.GlobalTable(), uuid, gone, c.Put))
	}
	ops = append(ops, c.Notes.operations()...)
	for n, x := range c.Lists {
		ops = append(ops, x.operations(n)...)
	}
	if c.Ask {
		ops = append(ops, signOfLife(uuid)...)
	}
	return ops
}
