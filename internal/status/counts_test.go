package status

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The lines are ordered by unit: a server lists its members in the order of a hash table.
func TestClientCounts(t *testing.T) {
	three := 3
	row := func(unit string) observe.Row { return observe.Row{Owner: observe.Owner{Unit: unit}, Clients: &three} }
	rows := []observe.Row{{}, row("ovn-central/10"), row("ovn-central/9")}
	c := observe.Cluster{ServerState: observe.ServerState{Database: ovndb.NB}, Rows: rows}
	const last = " about 3 (as of its last hook), "
	want := []string{"nb: ovn-central/9" + last + "ovn-central/10" + last + "UNKNOWN not known"}
	assert.Equal(t, want, ClientCounts(observe.Report{Clusters: []observe.Cluster{c}}))
}
