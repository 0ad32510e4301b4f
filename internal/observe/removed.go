package observe

import (
	"context"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// RemovedPrefix is, with a full server ID behind it, the key in external_ids of NB_Global and SB_Global
// that says which unit's server was removed, when and by which unit. It outlives the unit and its
// relation, so that a server that was down when it was kicked can learn of it.
const RemovedPrefix = "ovn-central:removed/"

// RemovedWhileDown says whether this unit's server, which does not run, was removed by
// the members that remain: by the history of this unit, or by a record in the database
// as another unit has it.
func (s *Observer) RemovedWhileDown(ctx context.Context, m Application, d ovndb.Database, cache Cache) bool {
	id := m.Published[m.Unit][d].Server
	if id == "" {
		return false
	}
	if cache.RemovedBefore(d, id) {
		return true
	}
	var addresses []string
	for _, address := range m.PeerAddresses() {
		addresses = append(addresses, ovndb.RaftAddress(d, address.String()))
	}
	return s.removedBy(ctx, d, id, addresses)
}

// removedBy says whether any of the members at addresses has a record that a server was
// removed. All are asked at the same time: each whose machine is off takes the whole of
// [ProbeTimeout], and where a quorum is lost most are.
func (s *Observer) removedBy(ctx context.Context, d ovndb.Database, id raft.ID, addresses []string) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan bool, len(addresses))
	for _, address := range addresses {
		go func() {
			removed, err := s.ReadRemovals(ctx, d, ovsdb.Endpoints(d, address)...)
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

// ReadRemovals reads the records of removals from the first endpoint that serves
// the database.
func (s *Observer) ReadRemovals(ctx context.Context, d ovndb.Database, endpoints ...string) (map[raft.ID]string, error) {
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

// RemovedServers picks the records of removals out of external_ids. What is not an ID is left out.
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

// RemovedElsewhere says whether the others have removed this unit's server while
// it was down or cut off. The server itself can't know: it waits for a leader
// for ever. What says so is the record in the database, read from any member
// that answers, or the memory of this unit.
func (s *Observer) RemovedElsewhere(ctx context.Context, l ServerState, cache Cache) bool {
	if l.Status.MemberWithLeader() {
		return false
	}
	if cache.RemovedBefore(l.Database, l.Status.Server) {
		return true
	}
	return s.removedBy(ctx, l.Database, l.Status.Server, OtherAddresses(l.Status))
}

// WasRemoved says whether the members that remain are known to have removed this
// unit's server. The server itself can't know if it was down then: it waits for
// a leader for ever.
func (s *Observer) WasRemoved(ctx context.Context, l ServerState, cache Cache) bool {
	return l.Member() && s.RemovedElsewhere(ctx, l, cache)
}
