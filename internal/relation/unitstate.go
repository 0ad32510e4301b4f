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

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// UnitState is what a unit publishes to its peers besides the identities of its servers, so that changes proceed unit
// by unit.
type UnitState struct {
	// Address is the unit's address on the peer binding.
	Address netip.Addr
	// Hostname is the name of the unit's machine; a chassis there may have other addresses.
	Hostname string
	// Charm is the version of the unit's charm. CharmsSeen are the other versions that it has read from its peers.
	Charm      string
	CharmsSeen []string
	// Source is the package source that the unit has applied.
	Source string
	// Running are the distinct versions that the unit's services run.
	Running []ovndb.Version
	// Trusts are the fingerprints of the CAs that the unit trusts, Issuer the fingerprint of the CA of its certificate.
	Trusts []string
	Issuer string
	// Northd is the state of the unit's ovn-northd: active, standby, or that it hangs. It is empty if ovn-northd does not
	// run, or lacks a database.
	Northd ovndb.NorthdHealth
	// NorthdAsked is when the unit last published that it finds no active ovn-northd; zero if one is active. NorthdHeard
	// has that time for each unit that published it: this unit has checked its own ovn-northd since then.
	NorthdAsked time.Time
	NorthdHeard map[string]time.Time
	// Paused reports whether an operator has paused the unit: its servers don't run until it is resumed.
	Paused bool
	// DiskFull reports whether the disk of the unit's databases is full.
	DiskFull bool
	// Clients has the approximate number of clients of the unit's server of each database. Databases that were not
	// counted are missing.
	Clients map[ovndb.Database]int
	// Withdrawn is the cluster that the unit claimed and then moved away; see [Claim].
	Withdrawn raft.ID
	// Requests are the recoveries requested on the unit, Copies the progress of its copies. Both are set only if a
	// recovery was requested on any unit, or if the unit's server knows no leader.
	Requests map[ovndb.Database]recovery.Request
	Copies   map[ovndb.Database]recovery.Copy
	// Rejoin has the unit's servers that can't be started again. Another unit has to remove them so that the unit can
	// rejoin.
	Rejoin map[ovndb.Database]raft.ID
	// Unusable has the databases whose server is not running, and can't be started on its file.
	Unusable map[ovndb.Database]bool
	// NoRoom has the databases whose pending conversion to a newer schema needs more disk or memory than the machine
	// has.
	NoRoom map[ovndb.Database]bool
}

// Keys of a deployment in a unit's data on the peer relation, next to bound-address, which the previous charm also has.
const (
	keyHostname = "hostname"
	keyCharm    = "charm-version"
	keyCharms   = "charm-versions-seen"
	keySource   = "package-source"
	keyRunning  = "running-version"
	keyTrusts   = "trusted-cas"
	keyIssuer   = "certificate-issuer"
	keyNorthd   = "northd"
	// keyNorthdAsked and keyNorthdHeard make peers report again: when a unit's data changes, Juju runs a hook on each
	// peer.
	keyNorthdAsked = "northd-none-active"
	keyNorthdHeard = "northd-none-active-heard"

	keyPaused   = "paused"
	keyDiskFull = "disk-full"
	// keyClients follows the database's short name.
	keyClients = "-clients"
	// keyWithdrawn is read together with the application's keyClaim.
	keyWithdrawn = "withdrawn-claim"
	// keyKicked makes peers forget a member, as keyNorthdAsked makes them report again. Nothing reads it.
	keyKicked = "kicked"
	// keyRequest and the following keys are appended to the database's short name.
	keyRequest = "-recovery"
	keyCopy    = "-copy"
	keyRejoin  = "-rejoin"
	keyNoRoom  = "-no-room"
	// keyUnusable makes peers name the repair in place of the start of a machine that is on.
	keyUnusable = "-unusable"
)

// Kicked returns what a unit publishes on [Peer] when it has removed a member: Juju runs a hook on each peer, whose
// status then no longer asks for the removal.
func Kicked(at time.Time) map[string]string {
	return map[string]string{keyKicked: at.UTC().Format(time.RFC3339)}
}

// Databag returns the state as the unit's complete data: a key that does not apply has an empty value, which makes Juju
// delete it.
func (d UnitState) Databag() map[string]string {
	databag := map[string]string{
		keyHostname: d.Hostname,
		keyCharm:    d.Charm,
		keyCharms:   join(d.CharmsSeen),
		keySource:   d.Source,
		keyRunning:  join(d.Running),
		keyTrusts:   join(d.Trusts),
		keyIssuer:   d.Issuer,
		keyNorthd:   string(d.Northd),
		keyPaused:   flag(d.Paused),
		keyDiskFull: flag(d.DiskFull),

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
		databag[db.Short()+keyClients] = asJSON(d.Clients, db)
		databag[db.Short()+keyRequest] = asJSON(d.Requests, db)
		databag[db.Short()+keyCopy] = asJSON(d.Copies, db)
		databag[db.Short()+keyRejoin] = string(d.Rejoin[db])
		databag[db.Short()+keyNoRoom] = flag(d.NoRoom[db])
		databag[db.Short()+keyUnusable] = flag(d.Unusable[db])
	}
	maps.Copy(databag, BoundAddress(d.Address))
	return databag
}

// ParseUnitState parses what a unit has published, with its texts cleaned (R18). Malformed values are left out and
// named in problems.
func ParseUnitState(databag map[string]string) (d UnitState, problems []string) {
	address, _, err := addressOf(databag, keyBoundAddress)
	if err != nil {
		problems = append(problems, err.Error())
	}
	d = UnitState{
		Address: address, Hostname: foreign.Name(databag[keyHostname]), Charm: foreign.Name(databag[keyCharm]),
		Source: databag[keySource], Issuer: databag[keyIssuer],
		Paused: databag[keyPaused] == "true", DiskFull: databag[keyDiskFull] == "true",
		CharmsSeen: split(databag[keyCharms]), Trusts: split(databag[keyTrusts]),
		Clients: map[ovndb.Database]int{}, Rejoin: map[ovndb.Database]raft.ID{}, NoRoom: map[ovndb.Database]bool{},
		Unusable: map[ovndb.Database]bool{},
	}
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
		if databag[db.Short()+keyUnusable] == "true" {
			d.Unusable[db] = true
		}
		problems = append(problems, fromJSON(databag, db.Short()+keyRequest, db, &d.Requests)...)
		problems = append(problems, fromJSON(databag, db.Short()+keyCopy, db, &d.Copies)...)
	}
	if state := ovndb.NorthdHealth(databag[keyNorthd]); state.Works() || state == ovndb.NorthdUnresponsive {
		d.Northd = state
	}
	problems = append(problems, d.parseNorthd(databag)...)
	d.Withdrawn, _ = raft.ParseID(databag[keyWithdrawn])
	for _, version := range split(databag[keyRunning]) {
		d.Running = append(d.Running, ovndb.ParseVersion(version))
	}
	foreign.Texts(&d)
	slices.Sort(d.Trusts)
	return d, problems
}

// split splits a list by its commas, without empty elements.
func split(list string) (all []string) {
	for element := range strings.SplitSeq(list, ",") {
		if element != "" {
			all = append(all, element)
		}
	}
	return all
}

// parseNorthd parses what the unit has asked and heard about ovn-northd.
func (d *UnitState) parseNorthd(databag map[string]string) (problems []string) {
	if text := databag[keyNorthdAsked]; text != "" {
		at, err := time.Parse(time.RFC3339Nano, text)
		if at = at.UTC(); err != nil || at.Year() < 0 || at.Year() > 9999 { // not representable in JSON
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

// asJSON returns the database's value; empty if there is none.
func asJSON[T any](all map[ovndb.Database]T, db ovndb.Database) string {
	value, there := all[db]
	if !there {
		return ""
	}
	text, _ := json.Marshal(value) // strings, numbers, booleans and times always marshal
	return string(text)
}

// fromJSON parses the database's value, if there is one.
func fromJSON[T any](
	databag map[string]string, key string, db ovndb.Database, all *map[ovndb.Database]T,
) (problems []string) {
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

// flag returns the value of a boolean key: yes or empty.
func flag(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// join joins the texts of a list by commas.
func join[T any](all []T) string {
	texts := make([]string, len(all))
	for i, x := range all {
		texts[i] = fmt.Sprint(x)
	}
	return strings.Join(texts, ",")
}

// Clusters are the IDs that the leader publishes as leader settings, as soon as they are decided. Only a leader can
// write leader settings.
type Clusters struct {
	IDs map[ovndb.Database]raft.ID
	// Superseded are the clusters that were replaced, oldest first.
	Superseded map[ovndb.Database][]raft.ID
	// CreatedBy is the unit that created them; the previous charm did not publish it.
	CreatedBy string
}

// Keys of the leader settings. The previous charm has all but the last.
const (
	keyReady     = "ready"
	keyCreatedBy = "created-by"
)

// Ready returns the leader setting that never changes.
func Ready() map[string]string { return map[string]string{keyReady: "True"} }

func keyLeaderCluster(d ovndb.Database) string { return d.Short() + "_cid" }

func keySuperseded(d ovndb.Database) string { return d.Short() + "_superseded" }

// maxSuperseded limits how many superseded clusters are kept. A machine that was off during more recoveries is
// blocked as if it had a foreign cluster.
const maxSuperseded = 50

// Supersede replaces the cluster of database d by next.
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

// Settings returns the clusters as leader settings.
func (c Clusters) Settings() map[string]string {
	settings := map[string]string{keyReady: "True", keyCreatedBy: c.CreatedBy}
	for _, d := range ovndb.Databases() {
		settings[keyLeaderCluster(d)] = string(c.IDs[d])
		if len(c.Superseded[d]) > 0 {
			settings[keySuperseded(d)] = join(c.Superseded[d])
		}
	}
	return settings
}

// ParseClusters parses the leader settings. It omits malformed values and names them in problems; they do not mean
// that there are no clusters. It ignores a cluster that is listed as superseded by itself: otherwise units would move
// away the files that are being served.
func ParseClusters(settings map[string]string) (c Clusters, problems []finding.Reason) {
	c = Clusters{
		IDs: map[ovndb.Database]raft.ID{}, Superseded: map[ovndb.Database][]raft.ID{},
		CreatedBy: foreign.Name(settings[keyCreatedBy]),
	}
	for _, d := range ovndb.Databases() {
		for text := range strings.SplitSeq(settings[keySuperseded(d)], ",") {
			if id, ok := raft.ParseID(text); ok {
				c.Superseded[d] = append(c.Superseded[d], id)
			} else if text != "" {
				problems = append(problems, unfit(finding.SettingHasNoID, keySuperseded(d), text))
			}
		}
		value := settings[keyLeaderCluster(d)]
		if value == "" {
			continue
		}
		id, ok := raft.ParseID(value)
		if !ok {
			problems = append(problems, unfit(finding.SettingNotID, keyLeaderCluster(d), value))
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

// SupersedeThemselves returns the leader settings that list the application's own cluster as superseded.
func SupersedeThemselves(settings map[string]string) (keys []string) {
	for _, d := range ovndb.Databases() {
		id, ok := raft.ParseID(settings[keyLeaderCluster(d)])
		if ok && slices.Contains(strings.Split(settings[keySuperseded(d)], ","), string(id)) {
			keys = append(keys, keySuperseded(d))
		}
	}
	return keys
}

// keyAccepted, after the database's short name, is the key of the accepted recovery. It is a leader setting: these
// stay even if the hook fails, as `stop` does while the unit's removal waits.
const keyAccepted = "_recovery"

// Accepted returns the accepted recoveries as leader settings.
func Accepted(all map[ovndb.Database]recovery.Acceptance) map[string]string {
	settings := map[string]string{}
	for d := range all {
		settings[d.Short()+keyAccepted] = asJSON(all, d)
	}
	return settings
}

// ParseAccepted parses the accepted recoveries, with their texts cleaned (R18). Malformed values are left out: the
// Juju leader accepts one again.
func ParseAccepted(settings map[string]string) map[ovndb.Database]recovery.Acceptance {
	all := map[ovndb.Database]recovery.Acceptance{}
	for _, d := range ovndb.Databases() {
		if problems := fromJSON(settings, d.Short()+keyAccepted, d, &all); len(problems) > 0 {
			delete(all, d)
		}
	}
	foreign.Texts(&all)
	return all
}

// keyClaim, followed by the unit, is the key of a unit's own claim.
const keyClaim = "claim-"

func claimKey(unit string) string { return keyClaim + strings.ReplaceAll(unit, "/", "-") }

// Claim returns what a unit adds to [Clusters] if these are in the application's data (Juju 4): the Northbound
// cluster that it is about to create. Juju writes the data at the end of the hook, so a unit that was stopped
// meanwhile overwrites another unit's clusters. The other unit's own claim remains.
func Claim(unit string, northbound raft.ID) map[string]string {
	return map[string]string{claimKey(unit): string(northbound)}
}

// ParseClaim returns the cluster that a unit has claimed, by the application's data; empty if there is none. A
// malformed claim gives an unknown cluster.
func ParseClaim(data map[string]string, unit string) raft.ID {
	return raft.ID(foreign.Name(data[claimKey(unit)]))
}
