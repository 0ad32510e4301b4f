// Package relation has the data of each relation, in both directions: typed, validated, and in the exact wire form. All
// values are strings: 13e4 and 0017 are identities, not numbers.
package relation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

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

// Identities are a unit's servers as it publishes them. A database without a server, or with one that has left, is
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
