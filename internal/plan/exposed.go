package plan

import "github.com/ovn-central/ovn-central-operator/internal/ovndb"

// Listener is a row of Connection: where the servers of a database listen, or what they connect to.
type Listener struct {
	Database     ovndb.Database
	Target, UUID string
}

// exposed are the listeners without TLS.
func (s State) exposed() (all []Listener) {
	for _, db := range ovndb.Databases() {
		all = append(all, s.Databases[db].WithoutTLS...)
	}
	return all
}
