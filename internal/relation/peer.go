// Package relation has the data of each relation, in both directions: typed, validated, and in the exact wire form. All
// values are strings: 13e4 and 0017 are identities, not numbers.
package relation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Peer is the name of the peer relation's endpoint.
const Peer = "ovsdb-peer"

// Identity is the membership of a unit's server in one database's cluster.
type Identity struct {
	// Server is the full server ID; its first four digits are the identity.
	Server raft.ID `json:"server"`
	// Cluster is empty while the server has not joined.
	Cluster raft.ID `json:"cluster,omitempty"`
	// Since is an index of the cluster's log at which the server was a member by a committed entry. It does not change
	// as long as the unit's cache exists; 0 if unknown.
	Since uint64 `json:"since,omitempty"`
}

// OfAnother reports whether the server belongs to another cluster than this one: a recovery replaces the cluster, and
// until their next hooks units publish their servers of the old one. It is false if either is unknown.
func (i Identity) OfAnother(cluster raft.ID) bool {
	return i.Cluster != "" && cluster != "" && i.Cluster != cluster
}

// Identities are a unit's servers as it publishes them. Databases without a server, or whose server has left, are
// missing.
type Identities map[ovndb.Database]Identity

// Keys of a unit's data, after the database's short name.
const (
	keyIdentity = "-identity"
	keyServer   = "-server-id"
	keyCluster  = "-cluster-id"
	keySince    = "-member-since"
)

// Databag is the unit's complete data on the relation: a key that does not apply has an empty value, which makes Juju
// delete it.
func (u Identities) Databag() map[string]string {
	databag := map[string]string{}
	for _, d := range ovndb.Databases() {
		id := u[d]
		databag[d.Short()+keyIdentity] = id.Server.Short()
		full, _ := raft.ParseID(string(id.Server))
		databag[d.Short()+keyServer] = string(full)
		databag[d.Short()+keyCluster] = string(id.Cluster)
		databag[d.Short()+keySince] = ""
		if id.Since != 0 {
			databag[d.Short()+keySince] = strconv.FormatUint(id.Since, 10)
		}
	}
	return databag
}

// Complete reports whether the unit has published both identities.
func (u Identities) Complete() bool { return u[ovndb.NB].Server != "" && u[ovndb.SB].Server != "" }

// ParseIdentities parses what a unit has published. Malformed values are left out and named in problems: one peer's
// invalid data must not hide the others'. A unit that publishes only the four digits has these as its Server.
func ParseIdentities(databag map[string]string) (u Identities, problems []string) {
	u = Identities{}
	for _, d := range ovndb.Databases() {
		short, full, cluster := databag[d.Short()+keyIdentity], databag[d.Short()+keyServer], databag[d.Short()+keyCluster]
		var id Identity
		switch server, ok := raft.ParseID(full); {
		case short == "" && full == "":
			continue
		case !raft.IsIdentity(short):
			problems = append(problems, fmt.Sprintf("%s%s is %.40q, not four hex digits", d.Short(), keyIdentity, short))
			continue
		case full == "":
			id.Server = raft.ID(short)
		case !ok || server.Short() != short:
			problems = append(problems, fmt.Sprintf("%s%s is %.40q, not an ID that begins with %s",
				d.Short(), keyServer, full, short))
			continue
		default:
			id.Server = server
		}
		if c, ok := raft.ParseID(cluster); ok {
			id.Cluster = c
		} else if cluster != "" {
			problems = append(problems, fmt.Sprintf("%s%s is %.40q, not an ID", d.Short(), keyCluster, cluster))
		}
		if since := databag[d.Short()+keySince]; since != "" {
			var err error
			if id.Since, err = strconv.ParseUint(since, 10, 64); err != nil {
				problems = append(problems, fmt.Sprintf("%s%s is %.40q, not an index", d.Short(), keySince, since))
				id.Since = 0
			}
		}
		u[d] = id
	}
	return u, problems
}

// UnitIdentities are the identities of several units, by unit name.
type UnitIdentities map[string]Identities

// Names lists the units in a stable order.
func (u UnitIdentities) Names() []string { return slices.Sorted(maps.Keys(u)) }

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

// Data is what one owner has published on a relation. Unread, empty and present data are three different states. The
// zero value is unread.
type Data struct {
	read   bool
	values map[string]string
}

// Read makes data that was read; without values it is empty, not unread.
func Read(values map[string]string) Data { return Data{read: true, values: values} }

// Unread reports whether nothing is known about the data.
func (d Data) Unread() bool { return !d.read }

// jujusKeys are the keys that Juju itself writes into the data of each unit (defaults of network-get; worker/uniter and
// state/relationunit.go).
var jujusKeys = []string{"egress-subnets", "ingress-address", "private-address"}

// Empty reports whether the data was read and the owner has written nothing yet.
func (d Data) Empty() bool {
	for key, value := range d.values {
		if value != "" && !slices.Contains(jujusKeys, key) {
			return false
		}
	}
	return d.read
}

// Values are the published values; nil if unread.
func (d Data) Values() map[string]string { return d.values }
