package document

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// maxTarget limits how much of a target is shown, in characters: a client of the database wrote it.
const maxTarget = 60

// Listeners are warnings of listeners without TLS, each with the command that removes its row. It is
// for the machine of a unit whose server leads the database.
func Listeners(unit string, listeners []plan.Listener) (all []string) {
	tools := map[ovndb.Database]string{ovndb.NB: "ovn-nbctl", ovndb.SB: "ovn-sbctl"}
	for _, l := range listeners {
		all = append(all, fmt.Sprintf("%s: the servers listen at, or connect to, %.*q without TLS: all that reach that port have every right; to end it, run: juju ssh %s sudo %s remove %s . connections %s",
			l.Database.Short(), maxTarget, l.Target, unit, tools[l.Database], l.Database.GlobalTable(), l.UUID))
	}
	return all
}
