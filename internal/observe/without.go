package observe

import (
	"context"
	"maps"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// QuorumWithout determines the quorum of the other members of a cluster without this unit's server l, which does not
// answer. Its file, which ends at end, lists the members and their addresses; since then some may have joined or been
// removed. removed reports whether this server was.
func (s *Observer) QuorumWithout(
	ctx context.Context, m Application, cache Cache, l ServerState, end raftfile.End,
) (q raft.Quorum, removed bool) {
	d, file := l.Database, l.File
	members := maps.Clone(end.Addresses)
	for unit, published := range m.Published {
		id := published[d]
		if _, known := members[id.Server]; known || id.Server == "" || id.Since == 0 || !m.Exists(unit) ||
			id.OfAnother(file.Cluster) {
			continue
		}
		members[id.Server] = ""
		if address := m.Peers[unit].State.Address; address.IsValid() {
			members[id.Server] = ovndb.RaftAddress(d, address.String())
		}
	}
	asked := raft.Status{}
	for id, address := range members {
		asked.Servers = append(asked.Servers, raft.Member{
			Short: id.Short(), Address: address,
			Self: id == file.Server || address == "",
		})
	}
	answers := s.Probe(ctx, ServerState{Database: d, Status: asked})
	gone := func(id raft.ID) bool { return cache.RemovedBefore(d, id) }
	for _, a := range answers {
		if records, err := s.readRemovals(ctx, d, ovsdb.Endpoints(d, a.Address)...); err == nil {
			gone = func(id raft.ID) bool { return cache.RemovedBefore(d, id) || records[id] != "" }
			break
		}
	}
	maps.DeleteFunc(members, func(id raft.ID, _ string) bool { return gone(id) })
	return raft.QuorumWithout(members, file.Cluster, answers), gone(file.Server)
}
