package observe

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// LockKey is the key in external_ids of NB_Global and SB_Global that holds the lock of R5, a [lease.Record].
const LockKey = "ovn-central:membership"

// leavingServers returns the full IDs of the servers that are leaving, according to ids, the external_ids of NB_Global
// or SB_Global; in no order.
func leavingServers(ids map[string]string) (leaving []raft.ID) {
	record, err := lease.Parse(ids[LockKey])
	if err != nil {
		return nil // a malformed lock has no data; its next holder reports it
	}
	for _, i := range record.Intents {
		if i.Kind == lease.Leave {
			leaving = append(leaving, raft.ID(i.ID))
		}
	}
	return leaving
}

// anotherUnit is returned if an unknown unit changed the membership during the observation.
const anotherUnit = "another unit"

// changedBy returns the unit that changes the membership, according to external_ids of NB_Global or SB_Global from
// before and after the observation of the cluster; empty if no unit does.
func changedBy(before, after map[string]string, now time.Time) string {
	first, _ := lease.Parse(before[LockKey]) // a malformed lock has no data; its next holder reports it
	last, _ := lease.Parse(after[LockKey])
	switch {
	case before == nil || after == nil: // unreadable, for example without a leader
		return ""
	case last.HeldAt(now):
		return last.Holder
	case first.HeldAt(now):
		return first.Holder
	case last.Term != first.Term:
		return anotherUnit
	}
	return ""
}

// Global opens NB_Global or SB_Global of d at the endpoints, within the timeout for a database of its size. The
// caller must close it.
func (s *Machine) Global(ctx context.Context, d ovndb.Database, endpoints ...string) (*ovsdb.Global, error) {
	ctx, cancel := context.WithTimeout(ctx, s.StorePatience(d))
	defer cancel()
	return s.Dialer.Global(ctx, d, endpoints...)
}

// StorePatience is the timeout for one read or write of the lock.
func (s *Machine) StorePatience(d ovndb.Database) time.Duration {
	return s.Patience(d, storeTimeout)
}

// SupersededKey is the key in external_ids of NB_Global and SB_Global for the full IDs, separated by spaces, of the
// clusters that this one has replaced by a recovery or a restore. It is written with the new cluster's data.
const SupersededKey = "ovn-central:superseded"

// ClustersKey is the key in external_ids of NB_Global or SB_Global for the clusters of the other database d, after
// one of them was replaced. The value is their full IDs, separated by spaces, the present one last.
func ClustersKey(d ovndb.Database) string { return "ovn-central:" + d.Short() + "-clusters" }

// SupersededAnswers returns the reports about replaced clusters, by database, in ids: the external_ids of NB_Global
// or SB_Global read at an address. own is the cluster of d that is served there.
func SupersededAnswers(
	address string, d ovndb.Database, own raft.ID, ids map[string]string,
) map[ovndb.Database][]recovery.Answer {
	all := map[ovndb.Database][]recovery.Answer{}
	if given := SupersededClusters(ids); len(given) > 0 {
		all[d] = []recovery.Answer{{Address: address, Cluster: own, Supersedes: given}}
	}
	if others := parseIDs(ids[ClustersKey(d.Other())]); len(others) > 1 {
		last := len(others) - 1
		all[d.Other()] = []recovery.Answer{{Address: address, Cluster: others[last], Supersedes: others[:last]}}
	}
	return all
}

// SupersededDrift returns the entries about replaced clusters, of database d and of the other one, that are missing
// in ids, the external_ids of NB_Global or SB_Global. The entries are by key.
func SupersededDrift(
	d ovndb.Database, present map[ovndb.Database]raft.ID, superseded map[ovndb.Database][]raft.ID, ids map[string]string,
) map[string]string {
	drift := map[string]string{}
	have := SupersededClusters(ids)
	if slices.ContainsFunc(superseded[d], func(id raft.ID) bool { return !slices.Contains(have, id) }) {
		drift[SupersededKey] = FormatIDs(superseded[d])
	}
	other := d.Other()
	text := FormatIDs(append(slices.Clone(superseded[other]), present[other]))
	if len(superseded[other]) > 0 && ids[ClustersKey(other)] != text {
		drift[ClustersKey(other)] = text
	}
	return drift
}

// FormatIDs formats IDs for external_ids.
func FormatIDs(ids []raft.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, string(id))
	}
	return strings.Join(all, " ")
}

// SupersededClusters returns the replaced clusters listed in ids, the external_ids of NB_Global or SB_Global, the
// oldest first. It ignores invalid IDs.
func SupersededClusters(ids map[string]string) []raft.ID { return parseIDs(ids[SupersededKey]) }

func parseIDs(texts string) (all []raft.ID) {
	for text := range strings.FieldsSeq(texts) {
		if id, ok := raft.ParseID(text); ok {
			all = append(all, id)
		}
	}
	return all
}

// RecoveryKey is the key in external_ids of NB_Global and SB_Global for the recovery or restore that made the cluster.
const RecoveryKey = "ovn-central:recovery"

// Mark is the value of [RecoveryKey]. The new cluster has it from its first entry on, so each unit can read it.
type Mark struct {
	// Unit made the cluster, at the time At of its clock.
	Unit string    `json:"unit"`
	At   time.Time `json:"at"`
	// Cluster is the replaced cluster.
	Cluster raft.ID `json:"cluster"`
	// Backup is the path of the backup on that unit's machine; empty if the cluster was made of the unit's own data.
	Backup string `json:"backup,omitempty"`
	// GivenUp are the units and members that the request gave up.
	GivenUp []string `json:"given-up,omitempty"`
}

// ParseMark reads the mark from external_ids. It returns the zero value if external_ids has no valid mark. It cleans
// the texts, because any client of the database can write them (R18).
func ParseMark(ids map[string]string) (m Mark) {
	if json.Unmarshal([]byte(ids[RecoveryKey]), &m) != nil {
		return Mark{}
	}
	foreign.Texts(&m)
	return m
}

// supersededBy returns the result of [SupersededClusters] without own, the cluster that the external_ids belong to: a
// cluster can't replace itself. itself reports whether own was listed.
func supersededBy(own raft.ID, ids map[string]string) (all []raft.ID, itself bool) {
	all = SupersededClusters(ids)
	before := len(all)
	all = slices.DeleteFunc(all, func(id raft.ID) bool { return id == own })
	return all, len(all) < before
}

// RemovedPrefix with a full server ID behind it is the key in external_ids of NB_Global and SB_Global that records
// which unit's server was removed, when and by which unit: a server that was down during the kick reads it.
const RemovedPrefix = "ovn-central:removed/"

// RemovedWhileDown reports whether the remaining members removed this unit's server, which does not run. The source
// is this unit's history, or a record in another unit's database.
func (s *Observer) RemovedWhileDown(ctx context.Context, m Application, d ovndb.Database, cache Cache) bool {
	id := m.Published[m.Unit][d].Server
	if id == "" {
		return false
	}
	var addresses []string
	for _, address := range m.PeerAddresses() {
		addresses = append(addresses, ovndb.RaftAddress(d, address.String()))
	}
	return s.removed(ctx, d, id, cache, addresses)
}

// removed reports whether the cache, or any member at the addresses, has a record that the server was removed. It
// asks all members at the same time: each machine that is off takes the whole [ProbeTimeout], and without a quorum
// most are off.
func (s *Observer) removed(ctx context.Context, d ovndb.Database, id raft.ID, cache Cache, addresses []string) bool {
	if cache.RemovedBefore(d, id) {
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan bool, len(addresses))
	for _, address := range addresses {
		go func() {
			removed, err := s.readRemovals(ctx, d, ovsdb.Endpoints(d, address)...)
			answers <- err == nil && removed[id] != ""
		}()
	}
	for range addresses {
		if <-answers {
			return true
		}
	}
	return false
}

func (s *Observer) readRemovals(
	ctx context.Context, d ovndb.Database, endpoints ...string,
) (map[raft.ID]string, error) {
	ids, err := s.readIDs(ctx, d, endpoints...)
	return RemovedServers(ids), err
}

// readIDs reads the external_ids of NB_Global or SB_Global from the first endpoint that serves the database.
func (s *Observer) readIDs(
	ctx context.Context, d ovndb.Database, endpoints ...string,
) (ids map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	err = s.Dialer.WithGlobal(ctx, d, endpoints, func(_ *ovsdb.Global, read map[string]string) error {
		ids = read
		return nil
	})
	return ids, err
}

// RemovedServers returns the records of removals in external_ids. Keys without a valid ID are ignored.
func RemovedServers(ids map[string]string) map[raft.ID]string {
	all := map[raft.ID]string{}
	for key, record := range ids {
		text, found := strings.CutPrefix(key, RemovedPrefix)
		if id, ok := raft.ParseID(text); found && ok {
			all[id] = foreign.Reason(record)
		}
	}
	return all
}

// RemovedElsewhere reports whether the other members have removed this unit's server while it was down or cut off.
// The server itself can't know: it waits for a leader for ever. The source is a record in the database, or this
// unit's cache.
func (s *Observer) RemovedElsewhere(ctx context.Context, l ServerState, cache Cache) bool {
	if l.Status.MemberWithLeader() {
		return false
	}
	return s.removed(ctx, l.Database, l.Status.Server, cache, OtherAddresses(l.Status))
}
