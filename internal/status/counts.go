package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// ClientCounts returns a line for each database: the number of clients of each member, ordered by unit.
func ClientCounts(r observe.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		var members []string
		for _, row := range slices.SortedStableFunc(slices.Values(c.Rows), byUnit) {
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

func byUnit(a, b observe.Row) int {
	if a.Owner.Unit == "" || b.Owner.Unit == "" {
		return strings.Compare(b.Owner.Unit, a.Owner.Unit)
	}
	return unitname.Compare(a.Owner.Unit, b.Owner.Unit)
}
