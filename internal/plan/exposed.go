package plan

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// maxTarget limits the shown part of a target, in characters: any client of the database may have written it.
const maxTarget = 60

// Listener is a row of Connection: an address at which the servers of a database listen, or to which they connect.
type Listener struct {
	Database     ovndb.Database
	Target, UUID string
}

// findExposed adds the listeners without TLS.
func (s State) findExposed(d *Decision) {
	for _, db := range ovndb.Databases() {
		for _, l := range s.Databases[db].WithoutTLS {
			d.findIn(db, finding.ListenerWithoutTLS, finding.Args{Value: fmt.Sprintf("%.*q", maxTarget, l.Target)},
				finding.Do(command.OnMachine(s.Unit, "sudo", "ovn-"+db.Short()+"ctl", "--no-leader-only", "remove", db.GlobalTable(), ".", "connections", l.UUID)))
		}
	}
}
