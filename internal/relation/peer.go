// Package relation is what stands on each relation, both ways: typed, validated,
// and in the exact form on the wire. Values are strings and nothing else: 13e4
// and 0017 are identities, not numbers.
package relation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

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

// Unit is what a unit publishes of its servers. A database in which it has no
// server, or whose server has left, is not there.
type Unit map[raft.Database]Identity

// The keys of a unit's bag, after the database's short name.
const (
	keyIdentity = "-identity"
	keyServer   = "-server-id"
	keyCluster  = "-cluster-id"
	keySince    = "-member-since"
)

// Bag is the unit's data on the relation, in full: a key that does not apply has
// an empty value, by which Juju deletes it.
func (u Unit) Bag() map[string]string {
	bag := map[string]string{}
	for _, d := range raft.Databases() {
		id := u[d]
		bag[d.Short()+keyIdentity] = id.Server.Short()
		bag[d.Short()+keyServer] = ""
		if full, ok := raft.ParseID(string(id.Server)); ok {
			bag[d.Short()+keyServer] = string(full)
		}
		bag[d.Short()+keyCluster] = string(id.Cluster)
		bag[d.Short()+keySince] = ""
		if id.Since != 0 {
			bag[d.Short()+keySince] = strconv.FormatUint(id.Since, 10)
		}
	}
	return bag
}

// Complete says whether the unit has published both identities.
func (u Unit) Complete() bool { return u[raft.NB].Server != "" && u[raft.SB].Server != "" }

// ParseUnit reads what a unit has published. What is malformed is left out and
// named in problems: a peer that writes nonsense must not hide the others. A
// unit that publishes the four digits only has these as its Server.
func ParseUnit(bag map[string]string) (u Unit, problems []string) {
	u = Unit{}
	for _, d := range raft.Databases() {
		short, full, cluster := bag[d.Short()+keyIdentity], bag[d.Short()+keyServer], bag[d.Short()+keyCluster]
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
		if since := bag[d.Short()+keySince]; since != "" {
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

// Units are the identities of several units, by unit name.
type Units map[string]Unit

// Names lists the units in a stable order.
func (u Units) Names() []string { return slices.Sorted(maps.Keys(u)) }
