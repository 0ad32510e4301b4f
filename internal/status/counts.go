package status

import (
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
)

// ClientCounts says, a line for each database, how the clients are spread over the members.
func ClientCounts(r observe.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		var members []string
		for _, row := range c.Rows {
			switch {
			case row.Clients == nil:
				members = append(members, row.Label()+" not known")
			case row.Self:
				members = append(members, fmt.Sprintf("%s %d", row.Label(), *row.Clients))
			default:
				members = append(members, fmt.Sprintf("%s about %d (as of its last hook)", row.Label(), *row.Clients))
			}
		}
		if len(members) == 0 {
			members = []string{"not known"}
		}
		all = append(all, c.Database.Short()+": "+strings.Join(members, ", "))
	}
	return all
}
