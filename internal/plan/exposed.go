package plan

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// maxTarget limits how much of a target is shown, in characters: a client of the database wrote it.
const maxTarget = 60

// Listener is a row of Connection: where the servers of a database listen, or what they connect to.
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
