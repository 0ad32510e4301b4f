package status

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// A server lists its members in the order of a hash table, another in each run.
func TestClientsAreCountedInTheOrderOfUnits(t *testing.T) {
	three := 3
	row := func(unit string) observe.Row { return observe.Row{Owner: observe.Owner{Unit: unit}, Clients: &three} }
	rows := []observe.Row{{}, row("ovn-central/10"), row("ovn-central/9")}
	assert.Equal(t, []string{"nb: ovn-central/9 about 3 (as of its last hook), ovn-central/10 about 3 (as of its last hook), UNKNOWN not known"},
		ClientCounts(observe.Report{Clusters: []observe.Cluster{{ServerState: observe.ServerState{Database: ovndb.NB}, Rows: rows}}}))
}
