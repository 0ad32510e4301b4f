package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// closedPorts says which units can't connect to which, and at which ports, as far as this unit's servers show it.
// What is down is not among them.
func closedPorts(m observe.Application, clusters ...observe.Cluster) []string {
	type pair struct{ from, to string }
	ports := map[pair][]string{}
	var pairs []pair
	for _, c := range clusters {
		add := func(from, to, address string) {
			p := pair{from, to}
			if ports[p] == nil {
				pairs = append(pairs, p)
			}
			ports[p] = append(ports[p], ovndb.PortOf(address))
		}
		for _, row := range c.Rows {
			if row.Self || !row.Up && !row.OneWay || !c.View.LeaderUp() {
				continue
			}
			if name := nameOf(m, c.Database, row); !row.Link.To {
				add(m.Unit, name, row.Address)
			}
			if name := nameOf(m, c.Database, row); !row.Link.From {
				add(name, m.Unit, c.Status.Address)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(unitname.Compare(a.to, b.to), unitname.Compare(a.from, b.from))
	})
	var all []string
	for i := 0; i < len(pairs); {
		to, at := pairs[i].to, ports[pairs[i]]
		var from []string
		for ; i < len(pairs) && pairs[i].to == to && slices.Equal(ports[pairs[i]], at); i++ {
			from = append(from, pairs[i].from)
		}
		word := "port"
		if len(at) > 1 {
			word = "ports"
		}
		all = append(all, fmt.Sprintf("%s can't reach %s at %s %s", strings.Join(from, " and "), to, word, strings.Join(at, ", ")))
	}
	return all
}
