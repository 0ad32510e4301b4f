// Package relation is what stands on each relation, both ways: typed, validated,
// and in the exact form on the wire. Values are strings and nothing else: 13e4
// and 0017 are identities, not numbers.
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
	// Since is an index of the cluster's log at which the server was a member by a
	// committed entry, the same one as long as the unit remembers; 0 while that is
	// not known.
	Since uint64 `json:"since,omitempty"`
}

// OfAnother says whether the server is of another cluster than this one: a recovery puts a
// new cluster in the old one's place, and until their next hooks units publish their servers
// of the old one. Where either is not known it is not.
func (i Identity) OfAnother(cluster raft.ID) bool {
	return i.Cluster != "" && cluster != "" && i.Cluster != cluster
}

// Identities is what a unit publishes of its servers. A database in which it has no
// server, or whose server has left, is not there.
type Identities map[ovndb.Database]Identity

// The keys of a unit's bag, after the database's short name.
const (
	keyIdentity = "-identity"
	keyServer   = "-server-id"
	keyCluster  = "-cluster-id"
	keySince    = "-member-since"
)

// Databag is the unit's data on the relation, in full: a key that does not apply has
// an empty value, by which Juju deletes it.
func (u Identities) Databag() map[string]string {
	databag := map[string]string{}
	for _, d := range ovndb.Databases() {
		id := u[d]
		databag[d.Short()+keyIdentity] = id.Server.Short()
		databag[d.Short()+keyServer] = ""
		if full, ok := raft.ParseID(string(id.Server)); ok {
			databag[d.Short()+keyServer] = string(full)
		}
		databag[d.Short()+keyCluster] = string(id.Cluster)
		databag[d.Short()+keySince] = ""
		if id.Since != 0 {
			databag[d.Short()+keySince] = strconv.FormatUint(id.Since, 10)
		}
	}
	return databag
}

// Complete says whether the unit has published both identities.
func (u Identities) Complete() bool { return u[ovndb.NB].Server != "" && u[ovndb.SB].Server != "" }

// ParseIdentities reads what a unit has published. What is malformed is left out and
// named in problems: a peer that writes invalid data must not hide the others. A
// unit that publishes the four digits only has these as its Server.
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
			problems = append(problems, fmt.Sprintf("%s%s is %.40q, not an ID that begins with %s", d.Short(), keyServer, full, short))
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
