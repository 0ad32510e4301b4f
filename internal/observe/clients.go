package observe

import (
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// CountClients returns how many connections this unit's server of db has on its client
// ports. An error means that the system could not be asked, not that there are none.
func (s *Observer) CountClients(db ovndb.Database) (ovndb.Clients, error) {
	if s.Clients != nil {
		return s.Clients(db)
	}
	return ovn.ClientsOf(db)
}

// clientsOf is how many clients a member's server has, nil where that is not known:
// this unit's now, another's as of its last hook, and about.
func (s *Observer) clientsOf(m Application, db ovndb.Database, unit string) *int {
	if unit != m.Unit {
		published, _ := relation.ParseUnitState(m.Data[unit].Values())
		if n, known := published.Clients[db]; known {
			return &n
		}
		return nil
	}
	now, err := s.CountClients(db)
	if err != nil {
		return nil
	}
	return &now.Connected
}
