package observe

import (
	"context"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// RemovedPrefix with a full server ID behind it is the key in external_ids of NB_Global and SB_Global that records
// which unit's server was removed, when and by which unit. It outlives the unit and its relation, so that a server that
// was down during the kick can learn about it.
const RemovedPrefix = "ovn-central:removed/"

// RemovedWhileDown reports whether the remaining members removed this unit's server, which does not run: according to
// this unit's history, or to a record in another unit's database.
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

// removed reports whether the cache, or any member at the addresses, has a record that the server was removed. All are
// asked at the same time: each machine that is off takes the whole [ProbeTimeout], and without a quorum most are off.
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

// readRemovals reads the records of removals from the first endpoint that serves the database.
func (s *Observer) readRemovals(
	ctx context.Context, d ovndb.Database, endpoints ...string,
) (map[raft.ID]string, error) {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	global, err := s.Dialer.Global(ctx, d, endpoints...)
	if err != nil {
		return nil, err
	}
	defer global.Close()
	ids, err := global.Read(ctx)
	if err != nil {
		return nil, err
	}
	return RemovedServers(ids), nil
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

// RemovedElsewhere reports whether the other members have removed this unit's server while it was down or cut off. The
// server itself can't know: it waits for a leader for ever. The source is the record in the database, read from any
// member that answers, or this unit's cache.
func (s *Observer) RemovedElsewhere(ctx context.Context, l ServerState, cache Cache) bool {
	if l.Status.MemberWithLeader() {
		return false
	}
	return s.removed(ctx, l.Database, l.Status.Server, cache, OtherAddresses(l.Status))
}
