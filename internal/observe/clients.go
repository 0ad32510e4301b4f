package observe

import (
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// CountClients returns how many connections each of this unit's servers has on its
// client ports. An error means that the system could not be asked, not that there are
// none.
func (s *Observer) CountClients() (map[ovndb.Database]ovndb.Clients, error) {
	if s.Clients != nil {
		return s.Clients()
	}
	return machine.CountClients()
}

// clientsOf is how many clients a member's server has, nil where that is not known:
// this unit's as counted now, another's as of its last hook, and about.
func clientsOf(m Application, now map[ovndb.Database]ovndb.Clients, db ovndb.Database, unit string) *int {
	if unit != m.Unit {
		if n, known := m.Peers[unit].State.Clients[db]; known {
			return &n
		}
		return nil
	}
	if n, counted := now[db]; counted {
		return &n.Connected
	}
	return nil
}
