package relation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// UnitState is what a unit publishes to its peers beside the identities of its
// servers, so that changes go round unit by unit.
type UnitState struct {
	// Address is the unit's on the peer binding.
	Address netip.Addr
	// Hostname is that of its machine: a chassis there may have other addresses.
	Hostname string
	// Source is the package source that it has applied.
	Source string
	// Running are the versions that its services run, each once.
	Running []ovndb.Version
	// Trusts are the fingerprints of the CAs that it trusts, Issuer that of the CA
	// that its certificate is from.
	Trusts []string
	Issuer string
	// Northd is how the ovn-northd beside its servers works: active or standby, and
	// empty where it does not answer, or lacks a database. A release before this one
	// wrote "running" of any that systemd called active.
	Northd string
	// NorthdAsked is when it has published last that it finds no ovn-northd active; zero if one is. NorthdHeard is, for
	// each unit that has, that time: what it says of its own was found out after that.
	NorthdAsked time.Time
	NorthdHeard map[string]time.Time
	// Paused says that an operator has paused it: its servers don't run until it is resumed.
	Paused bool
	// Clients is about how many clients each of its servers has; one that is not in it was
	// not counted.
	Clients map[ovndb.Database]int
	// Withdrawn is the cluster that it has claimed and then put away; see [Claim].
	Withdrawn raft.ID
	// Requests are the recoveries that it was asked for, Copies how far its copies go;
	// these only where one was asked for of any unit, or its server knows no leader.
	Requests map[ovndb.Database]recovery.Request
	Copies   map[ovndb.Database]recovery.Copy
	// Asks is when it, as the one that leads the application, has asked the units that a
	// recovery was asked for of whether they are there.
	Asks map[ovndb.Database]time.Time
	// Rejoin are its servers that can't be started any more and that another unit is to
	// remove, so that it joins anew.
	Rejoin map[ovndb.Database]raft.ID
	// NoRoom are the databases that are to be converted to a newer schema and for whose
	// conversion its machine lacks disk or memory.
	NoRoom map[ovndb.Database]bool
}

// The keys of a deployment in a unit's bag on the peer relation, next to
// bound-address, which the charm before this one has too.
const (
	keyHostname = "hostname"
	keySource   = "package-source"
	keyRunning  = "running-version"
	// keyVersion is for peers with this charm before it published keyRunning: they
	// convert a database once this is the version that they have installed. So it is
	// one that runs, too. What such a peer publishes itself is only what it has
	// installed, and is not read.
	keyVersion = "package-version"
	keyTrusts  = "trusted-cas"
	keyIssuer  = "certificate-issuer"
	keyNorthd  = "northd"
	// keyNorthdAsked and keyNorthdHeard have peers report anew: a change of a unit's data has Juju run a hook on each.
	keyNorthdAsked = "northd-none-active"
	keyNorthdHeard = "northd-none-active-heard"

	keyPaused = "paused"
	// keyClients follows the database's short name.
	keyClients = "-clients"
	// keyWithdrawn is read next to the application's keyClaim.
	keyWithdrawn = "withdrawn-claim"
	// keyRequest and what comes after it follow the database's short name.
	keyRequest = "-recovery"
	keyCopy    = "-copy"
	keyAsks    = "-recovery-asks"
	keyRejoin  = "-rejoin"
	keyNoRoom  = "-no-room"
)

// Databag is the state as the unit's data, in full: a key that does not apply
// has an empty value, by which Juju deletes it.
func (d UnitState) Databag() map[string]string {
	databag := map[string]string{
		keyHostname: d.Hostname,
		keySource:   d.Source,
		keyRunning:  strings.Join(texts(d.Running), ","),
		keyVersion:  oldest(d.Running),
		keyTrusts:   strings.Join(d.Trusts, ","),
		keyIssuer:   d.Issuer,
		keyNorthd:   d.Northd,
		keyPaused:   flag(d.Paused),

		keyWithdrawn: string(d.Withdrawn),

		keyNorthdAsked: "", keyNorthdHeard: "",
	}
	if !d.NorthdAsked.IsZero() {
		databag[keyNorthdAsked] = d.NorthdAsked.UTC().Format(time.RFC3339Nano)
	}
	if len(d.NorthdHeard) > 0 {
		text, _ := json.Marshal(d.NorthdHeard) // times always marshal
		databag[keyNorthdHeard] = string(text)
	}
	for _, db := range ovndb.Databases() {
		databag[db.Short()+keyClients] = ""
		if n, counted := d.Clients[db]; counted {
			databag[db.Short()+keyClients] = strconv.Itoa(n)
		}
		databag[db.Short()+keyRequest] = asJSON(d.Requests, db)
		databag[db.Short()+keyCopy] = asJSON(d.Copies, db)
		databag[db.Short()+keyAsks] = asJSON(d.Asks, db)
		databag[db.Short()+keyRejoin] = string(d.Rejoin[db])
		databag[db.Short()+keyNoRoom] = flag(d.NoRoom[db])
	}
	maps.Copy(databag, BoundAddress(d.Address))
	return databag
}

// ParseUnitState reads what a unit has published, with its texts cleaned (R18). Malformed values
// are left out and named in problems.
func ParseUnitState(databag map[string]string) (d UnitState, problems []string) {
	address, _, err := parseBoundAddress(databag)
	if err != nil {
		problems = append(problems, err.Error())
	}
	d = UnitState{Address: address, Hostname: foreign.Name(databag[keyHostname]), Source: databag[keySource], Issuer: databag[keyIssuer], Northd: northd(databag[keyNorthd]), Paused: databag[keyPaused] == "true", Clients: map[ovndb.Database]int{}, Rejoin: map[ovndb.Database]raft.ID{}, NoRoom: map[ovndb.Database]bool{}}
	for _, db := range ovndb.Databases() {
		if n, err := strconv.Atoi(databag[db.Short()+keyClients]); err == nil && n >= 0 {
			d.Clients[db] = n
		}
		if id, ok := raft.ParseID(databag[db.Short()+keyRejoin]); ok {
			d.Rejoin[db] = id
		}
		if databag[db.Short()+keyNoRoom] == "true" {
			d.NoRoom[db] = true
		}
		problems = append(problems, fromJSON(databag, db.Short()+keyRequest, db, &d.Requests)...)
		problems = append(problems, fromJSON(databag, db.Short()+keyCopy, db, &d.Copies)...)
		problems = append(problems, fromJSON(databag, db.Short()+keyAsks, db, &d.Asks)...)
	}
	problems = append(problems, d.parseNorthd(databag)...)
	if id, ok := raft.ParseID(databag[keyWithdrawn]); ok {
		d.Withdrawn = id
	}
	for version := range strings.SplitSeq(databag[keyRunning], ",") {
		if version != "" {
			d.Running = append(d.Running, ovndb.ParseVersion(version))
		}
	}
	for ca := range strings.SplitSeq(databag[keyTrusts], ",") {
		if ca != "" {
			d.Trusts = append(d.Trusts, ca)
		}
	}
	foreign.Texts(&d)
	slices.Sort(d.Trusts)
	return d, problems
}

// parseNorthd reads what the unit has asked and heard of ovn-northd.
func (d *UnitState) parseNorthd(databag map[string]string) (problems []string) {
	if text := databag[keyNorthdAsked]; text != "" {
		at, err := time.Parse(time.RFC3339Nano, text)
		if at = at.UTC(); err != nil || at.Year() < 0 || at.Year() > 9999 { // else it can't be told again
			problems, at = append(problems, fmt.Sprintf("%s is %.40q, not a time", keyNorthdAsked, text)), time.Time{}
		}
		d.NorthdAsked = at
	}
	if text := databag[keyNorthdHeard]; text != "" && json.Unmarshal([]byte(text), &d.NorthdHeard) != nil {
		problems = append(problems, fmt.Sprintf("%s is %.40q, not the JSON that it has to be", keyNorthdHeard, text))
		d.NorthdHeard = nil
	}
	return problems
}

// asJSON is the database's value; empty where there is none.
func asJSON[T any](all map[ovndb.Database]T, db ovndb.Database) string {
	value, there := all[db]
	if !there {
		return ""
	}
	text, _ := json.Marshal(value) // strings, numbers, booleans and times always marshal
	return string(text)
}

// fromJSON reads the database's value, where there is one.
func fromJSON[T any](databag map[string]string, key string, db ovndb.Database, all *map[ovndb.Database]T) (problems []string) {
	if databag[key] == "" {
		return nil
	}
	var value T
	if err := json.Unmarshal([]byte(databag[key]), &value); err != nil {
		return []string{fmt.Sprintf("%s is %.40q, not the JSON that it has to be", key, databag[key])}
	}
	if *all == nil {
		*all = map[ovndb.Database]T{}
	}
	(*all)[db] = value
	return nil
}

// flag is the value of a key that says yes, or nothing.
func flag(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// northd is what of the key can be shown.
func northd(value string) string {
	if slices.Contains([]string{"active", "standby", "running"}, value) {
		return value
	}
	return ""
}

func texts(versions []ovndb.Version) []string {
	all := make([]string, len(versions))
	for i, v := range versions {
		all[i] = v.String()
	}
	return all
}

// oldest is the first of the versions that are not all the same, which [UnitState]
// has in the order in which they are to go; empty where there is none.
func oldest(versions []ovndb.Version) string {
	if len(versions) == 0 {
		return ""
	}
	return versions[0].OVN
}

// Clusters are the IDs that the leader publishes as leader settings, at the
// moment at which they are decided; only a leader can write them.
type Clusters struct {
	IDs map[ovndb.Database]raft.ID
	// Superseded are those in whose place others were put, the oldest first.
	Superseded map[ovndb.Database][]raft.ID
	// CreatedBy is the unit that created them; the charm before this one did not
	// say.
	CreatedBy string
}

// The keys of the leader settings. The charm before this one has them but for
// the last.
const (
	keyReady     = "ready"
	keyCreatedBy = "created-by"
)

func keyLeaderCluster(d ovndb.Database) string { return d.Short() + "_cid" }

func keySuperseded(d ovndb.Database) string { return d.Short() + "_superseded" }

// maxSuperseded bounds how many clusters are remembered as superseded: a machine that has
// been off for longer than so many recoveries is blocked as one of a foreign cluster.
const maxSuperseded = 50

// Supersede puts the cluster next in the place of the one that database d has.
func (c Clusters) Supersede(d ovndb.Database, next raft.ID, by string) Clusters {
	after := Clusters{IDs: maps.Clone(c.IDs), Superseded: maps.Clone(c.Superseded), CreatedBy: by}
	if after.Superseded == nil {
		after.Superseded = map[ovndb.Database][]raft.ID{}
	}
	before := append(slices.Clone(c.Superseded[d]), c.IDs[d])
	after.Superseded[d] = before[max(0, len(before)-maxSuperseded):]
	after.IDs[d] = next
	return after
}

// Settings are the clusters as leader settings.
func (c Clusters) Settings() map[string]string {
	settings := map[string]string{keyReady: "True", keyCreatedBy: c.CreatedBy}
	for _, d := range ovndb.Databases() {
		settings[keyLeaderCluster(d)] = string(c.IDs[d])
		if len(c.Superseded[d]) > 0 {
			settings[keySuperseded(d)] = joinIDs(c.Superseded[d])
		}
	}
	return settings
}

// ParseClusters reads the leader settings. What is malformed is left out and
// named in problems: then it must not be taken to mean that there are no clusters. A cluster that is
// named as superseded by itself is not: units would put away the files that are served.
func ParseClusters(settings map[string]string) (c Clusters, problems []string) {
	c = Clusters{IDs: map[ovndb.Database]raft.ID{}, Superseded: map[ovndb.Database][]raft.ID{}, CreatedBy: foreign.Name(settings[keyCreatedBy])}
	for _, d := range ovndb.Databases() {
		for text := range strings.SplitSeq(settings[keySuperseded(d)], ",") {
			if id, ok := raft.ParseID(text); ok {
				c.Superseded[d] = append(c.Superseded[d], id)
			} else if text != "" {
				problems = append(problems, fmt.Sprintf("the leader setting %s has %.40q, not an ID", keySuperseded(d), text))
			}
		}
		value := settings[keyLeaderCluster(d)]
		if value == "" {
			continue
		}
		id, ok := raft.ParseID(value)
		if !ok {
			problems = append(problems, fmt.Sprintf("the leader setting %s is %.40q, not an ID", keyLeaderCluster(d), value))
			continue
		}
		c.IDs[d] = id
		others := slices.DeleteFunc(c.Superseded[d], func(s raft.ID) bool { return s == id })
		if c.Superseded[d] = others; len(others) == 0 {
			delete(c.Superseded, d)
		}
	}
	return c, problems
}

// SupersedeThemselves are the leader settings that name the application's own cluster as superseded.
func SupersedeThemselves(settings map[string]string) (keys []string) {
	for _, d := range ovndb.Databases() {
		id, ok := raft.ParseID(settings[keyLeaderCluster(d)])
		if ok && slices.Contains(strings.Split(settings[keySuperseded(d)], ","), string(id)) {
			keys = append(keys, keySuperseded(d))
		}
	}
	return keys
}

// The keys of the leader settings by which a leader that is being removed asks the units that a recovery was asked
// for of. The second one follows the database's short name.
const (
	keyAskedBy    = "recovery-asked-by"
	keyLeaderAsks = "_recovery_asks"
)

// LeaderAsks are the times at which a leader asks, as leader settings. They are there even if its hook fails, as the
// `stop` of a unit whose removal waits does: of what that unit publishes itself Juju drops all.
func LeaderAsks(unit string, asks map[ovndb.Database]time.Time) map[string]string {
	settings := map[string]string{keyAskedBy: unit}
	for _, d := range ovndb.Databases() {
		settings[d.Short()+keyLeaderAsks] = asJSON(asks, d)
	}
	return settings
}

// ParseLeaderAsks are the times at which a unit has asked by leader settings. What is malformed is left out.
func ParseLeaderAsks(settings map[string]string, unit string) (asks map[ovndb.Database]time.Time) {
	if settings[keyAskedBy] != unit {
		return nil
	}
	for _, d := range ovndb.Databases() {
		_ = fromJSON(settings, d.Short()+keyLeaderAsks, d, &asks) // it asks again
	}
	return asks
}

func joinIDs(ids []raft.ID) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = string(id)
	}
	return strings.Join(all, ",")
}

// keyClaim, followed by the unit, is that of one unit's own claim.
const keyClaim = "claim-"

func claimKey(unit string) string { return keyClaim + strings.ReplaceAll(unit, "/", "-") }

// Claim is what a unit adds to [Clusters] where these are the application's data (Juju
// 4): the Northbound cluster that it is about to create. Juju writes them at the end of
// the hook, so that one which stood still overwrites what another unit has claimed
// meanwhile; that unit's own claim stands beside it.
func Claim(unit string, northbound raft.ID) map[string]string {
	return map[string]string{claimKey(unit): string(northbound)}
}

// ParseClaim is the cluster that a unit has claimed, by the application's data; empty
// where it has claimed none. What is malformed stands for an unknown one.
func ParseClaim(data map[string]string, unit string) raft.ID {
	return raft.ID(foreign.Name(data[claimKey(unit)]))
}
