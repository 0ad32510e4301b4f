package observe

import (
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// CountClients returns the number of connections to the client ports of each of this unit's servers. It returns an
// error if the system can't be asked.
func (s *Observer) CountClients() (map[ovndb.Database]ovndb.Clients, error) {
	if s.Clients != nil {
		return s.Clients()
	}
	return machine.CountClients()
}

// clientsOf returns the number of a server's clients, nil if unknown: this unit's as counted now, another unit's
// approximately, as of its last hook.
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
