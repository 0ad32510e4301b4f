package plan

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// remotes are the Raft addresses through which this unit can join the application's cluster. While a unit that is being
// removed can't be read, they are those that the leader last published.
func (s State) remotes(db ovndb.Database) []string {
	if known := s.knownRemotes(db); len(known) > 0 {
		return known
	}
	if !slices.ContainsFunc(s.Peers, func(p Peer) bool { return p.Dying && (p.Clusters[db] == "" || s.hasMade(p, db)) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Members[db]),
		func(remote string) bool { return remote == ovndb.RaftAddress(db, s.Address) })
}

// hasMade reports whether a unit that is being removed has made the application's cluster in a recovery, and still
// publishes its old server: its only hook may be a `stop` that fails, whose data Juju drops.
func (s State) hasMade(p Peer, db ovndb.Database) bool {
	made := p.Unit == s.Clusters.CreatedBy || p.Requests[db].New == s.Clusters.IDs[db]
	return made && s.Clusters.superseded(db, p.Clusters[db])
}

// knownRemotes are those of the peers with servers in the application's cluster: first the one that created it, last
// those that are being removed, which serve as long as necessary, since they may have the only copy (R9). A unit whose
// address has changed is a member at the old one: if a peer is at none of the members' addresses, these are tried, too,
// after the others.
func (s State) knownRemotes(db ovndb.Database) []string {
	var first, others, going []string
	for _, p := range s.Peers {
		if p.Address == "" || p.Clusters[db] != s.Clusters.IDs[db] {
			continue
		}
		remote := ovndb.RaftAddress(db, p.Address)
		switch {
		case p.Dying:
			going = append(going, remote)
		case p.Unit == s.Clusters.CreatedBy:
			first = append(first, remote)
		default:
			others = append(others, remote)
		}
	}
	all := slices.Concat(first, others, going)
	moved := slices.ContainsFunc(all, func(remote string) bool { return !slices.Contains(s.Members[db], remote) })
	for _, member := range s.Members[db] {
		if moved && member != ovndb.RaftAddress(db, s.Address) && !slices.Contains(all, member) {
			all = append(all, member)
		}
	}
	return all
}
