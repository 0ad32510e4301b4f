package relation

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// keyMembers, after the database's short name, has the Raft addresses of its members. A unit that is being removed may
// have the only copy while its data can't be read any more: a joining unit still finds it by these.
const keyMembers = "-members"

// Members are the Raft addresses of a database's members.
type Members map[ovndb.Database][]string

// Databag is the members as the application's data. Databases that are missing in it keep their value.
func (m Members) Databag() map[string]string {
	databag := map[string]string{}
	for d, addresses := range m {
		all := slices.Clone(addresses)
		slices.Sort(all)
		databag[d.Short()+keyMembers] = strings.Join(slices.Compact(all), ",")
	}
	return databag
}

// ParseMembers parses the application's data.
func ParseMembers(databag map[string]string) Members {
	m := Members{}
	for _, d := range ovndb.Databases() {
		for _, address := range split(databag[d.Short()+keyMembers]) {
			m[d] = append(m[d], foreign.Name(address))
		}
	}
	return m
}
