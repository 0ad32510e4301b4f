package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Cluster is the status as ovsdb-server prints it, with the time of the last
// message, which says little on a follower, replaced by the member's unit.
func Cluster(c observe.Cluster) string {
	if c.Condition != ovndb.Serving {
		return fmt.Sprintf("%s: %s", c.Database, c.ServerState.Text())
	}
	s := c.Status
	s.Servers = slices.Clone(s.Servers)
	for i := range s.Servers {
		m := &s.Servers[i]
		m.LastMsg = nil
		m.Extra += " " + c.Rows[i].Label() // a row that renders has its rest led by a space
	}
	return strings.TrimSuffix(s.String(), "\n")
}
