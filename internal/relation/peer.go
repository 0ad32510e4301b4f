// Package relation has the data of each relation, in both directions: typed, validated, and in the exact wire form. All
// values are strings: 13e4 and 0017 are identities, not numbers.
package relation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
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
	// Since is an index of the cluster's log at which, by a committed entry, the server was a member; 0 if unknown. It
	// does not change as long as the unit's cache exists.
	Since uint64 `json:"since,omitempty"`
	// Listed is an index of the log at which the server's own log lists it as a member, by an entry that may not be
	// committed; 0 if Since is known, or while the server joins. A server asks to be added only while it joins. So if
	// the cluster's log has reached this index without it, its addition was lost.
	Listed uint64 `json:"listed,omitempty"`
}

// memberAt returns an index of the cluster's log at which the server is a member, or never will be; 0 if unknown.
func (i Identity) memberAt() uint64 { return cmp.Or(i.Since, i.Listed) }

// OfAnother reports whether the server belongs to a cluster other than this one. A recovery replaces the cluster, and
// until their next hooks, units publish their servers of the old one. It reports false if either cluster is unknown.
func (i Identity) OfAnother(cluster raft.ID) bool {
	return i.Cluster != "" && cluster != "" && i.Cluster != cluster
}

// Identities are a unit's servers as it publishes them. A database is missing if it has no server, or if its server
// has left.
type Identities map[ovndb.Database]Identity

// Keys of a unit's data, with the database's short name in front.
const (
	keyIdentity = "-identity"
	keyServer   = "-server-id"
	keyCluster  = "-cluster-id"
	keySince    = "-member-since"
	keyListed   = "-listed-since"
)

// Databag returns the unit's complete data on the relation: a key that does not apply has an empty value, which makes
// Juju delete it.
func (u Identities) Databag() map[string]string {
	databag := map[string]string{}
	for _, d := range ovndb.Databases() {
		id := u[d]
		databag[d.Short()+keyIdentity] = id.Server.Short()
		full, _ := raft.ParseID(string(id.Server))
		databag[d.Short()+keyServer] = string(full)
		databag[d.Short()+keyCluster] = string(id.Cluster)
		databag[d.Short()+keySince] = formatIndex(id.Since)
		databag[d.Short()+keyListed] = formatIndex(id.Listed)
	}
	return databag
}

// parseIndex parses the index under a key. It returns 0 if the key is missing, and a problem if its value is malformed.
func parseIndex(key string, databag map[string]string) (index uint64, problem finding.Reason) {
	text := databag[key]
	if text == "" {
		return 0, problem
	}
	index, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, unfit(finding.NotIndex, key, text)
	}
	return index, problem
}

// unfit returns the reason why the value of a key can't be used. It quotes the beginning of the value.
func unfit(code finding.ReasonCode, key, value string) finding.Reason {
	return finding.Reason{Code: code, Name: key, Value: fmt.Sprintf("%.40q", value)}
}

func formatIndex(index uint64) string {
	if index == 0 {
		return ""
	}
	return strconv.FormatUint(index, 10)
}

// Complete reports whether the unit has published both identities.
func (u Identities) Complete() bool { return u[ovndb.NB].Server != "" && u[ovndb.SB].Server != "" }

// ParseIdentities parses what a unit has published. It omits malformed values and names them in problems: one peer's
// invalid data must not hide the others'. If a unit publishes only the four digits, these are its Server.
func ParseIdentities(databag map[string]string) (u Identities, problems []finding.Reason) {
	u = Identities{}
	for _, d := range ovndb.Databases() {
		short, full, cluster := databag[d.Short()+keyIdentity], databag[d.Short()+keyServer], databag[d.Short()+keyCluster]
		var id Identity
		switch server, ok := raft.ParseID(full); {
		case short == "" && full == "":
			continue
		case !raft.IsIdentity(short):
			problems = append(problems, unfit(finding.NotFourDigits, d.Short()+keyIdentity, short))
			continue
		case full == "":
			id.Server = raft.ID(short)
		case !ok || server.Short() != short:
			problem := unfit(finding.NotIDWith, d.Short()+keyServer, full)
			problem.Because = []finding.Reason{finding.Quote(short)}
			problems = append(problems, problem)
			continue
		default:
			id.Server = server
		}
		if c, ok := raft.ParseID(cluster); ok {
			id.Cluster = c
		} else if cluster != "" {
			problems = append(problems, unfit(finding.NotID, d.Short()+keyCluster, cluster))
		}
		for key, index := range map[string]*uint64{keySince: &id.Since, keyListed: &id.Listed} {
			var problem finding.Reason
			if *index, problem = parseIndex(d.Short()+key, databag); !problem.IsZero() {
				problems = append(problems, problem)
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

// keyMembers, after the database's short name, is the key of the Raft addresses of its members. While a unit is being
// removed, its own data may not be readable, although it may have the only copy. A joining unit still finds it by
// these addresses.
const keyMembers = "-members"

// Members are the Raft addresses of a database's members.
type Members map[ovndb.Database][]string

// Databag returns the members as the application's data. Databases that are not in m keep their value.
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

// Data is what a unit or an application has published on a relation. Unread, empty and present data are three
// different states. The zero value is unread.
type Data struct {
	read   bool
	values map[string]string
}

// Read returns data that was read. If there are no values, it is empty, not unread.
func Read(values map[string]string) Data { return Data{read: true, values: values} }

// Unread reports whether nothing is known about the data.
func (d Data) Unread() bool { return !d.read }

// jujusKeys are the keys that Juju itself writes into each unit's data (defaults of network-get; worker/uniter and
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

// Values returns the published values; nil if unread.
func (d Data) Values() map[string]string { return d.values }
