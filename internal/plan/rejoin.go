package plan

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// planRejoin removes the members that can't be started any more, for their units, which
// were told by an operator to join anew.
func (s State) planRejoin(d *Decision, db ovndb.Database, x Database) {
	for _, p := range s.Peers {
		id := p.Rejoin[db]
		if id == "" || p.Dying || !slices.ContainsFunc(x.Status.Servers, func(m raft.Member) bool { return m.Short == id.Short() }) {
			continue
		}
		d.do(Step{Kind: RemoveDamaged, Database: db, Unit: p.Unit, Server: id, Reason: p.Unit + " is to join anew"})
	}
}
