package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Cluster renders the status as ovsdb-server prints it, with the member's unit in place of the time of its last
// message, which means little on a follower.
func Cluster(c observe.Cluster) string {
	if c.Condition != ovndb.Serving {
		return fmt.Sprintf("%s: %s", c.Database, c.ServerState.Text())
	}
	s := c.Status
	s.Servers = slices.Clone(s.Servers)
	for i := range s.Servers {
		m := &s.Servers[i]
		m.LastMsg = nil
		m.Extra += " " + c.Rows[i].Label() // Extra begins with a space
	}
	return strings.TrimSuffix(s.String(), "\n")
}
