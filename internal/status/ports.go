package status

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// pair is two units; the first can't connect to the second.
type pair struct{ from, to string }

// unconnected returns the ports at which units can't connect to other units that are up, as far as this unit's
// servers show it.
func unconnected(r observe.Report) map[pair][]string {
	m := r.Application
	ports := map[pair][]string{}
	add := func(from, to, address string) {
		ports[pair{from, to}] = append(ports[pair{from, to}], ovndb.PortOf(address))
	}
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Self || !row.Up && !row.OneWay || !c.View.LeaderUp() {
				continue
			}
			name := nameOf(m, c.Database, row)
			if !row.Link.To {
				add(m.Unit, name, row.Address)
			}
			if !row.Link.From {
				add(name, m.Unit, c.Status.Address)
			}
		}
	}
	return ports
}

// closedPorts finds units that can't connect to another unit, and at which ports.
func closedPorts(r observe.Report) (all []finding.Finding) {
	ports := unconnected(r)
	pairs := slices.SortedFunc(maps.Keys(ports), func(a, b pair) int {
		return cmp.Or(unitname.Compare(a.to, b.to), unitname.Compare(a.from, b.from))
	})
	for i := 0; i < len(pairs); {
		to, at := pairs[i].to, ports[pairs[i]]
		var from []string
		for ; i < len(pairs) && pairs[i].to == to && slices.Equal(ports[pairs[i]], at); i++ {
			from = append(from, pairs[i].from)
		}
		word := "port "
		if len(at) > 1 {
			word = "ports "
		}
		all = append(all, finding.New(finding.PortsClosed, finding.Subject{Name: to},
			finding.Args{Unit: to, Units: from, Value: word + strings.Join(at, ", ")}, finding.ByHand(finding.OpenPorts)))
	}
	return all
}
