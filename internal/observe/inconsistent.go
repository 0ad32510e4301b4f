package observe

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// notApplied is said of a server that was found so before it was started again: then it does
// not say so any more, once its file was compacted, and its data are as they were.
const notApplied = "an entry of its log was not applied"

// observeStorage asks a server that answers whether it has applied all of its log. The raft library
// stores an entry before the database applies it: one that can't be applied is left out, and the
// member votes and acknowledges as before.
func (s *Observer) observeStorage(ctx context.Context, l *ServerState) {
	said, err := s.Control.StorageError(ctx, l.Database)
	switch {
	case err != nil:
		s.Log.DebugContext(ctx, "cannot ask whether the server has applied all of its log", "database", l.Database.Short(), "error", err)
	case said != "":
		l.Inconsistent = notApplied + ": " + said
	}
}

// Inconsistent says why the data of this unit's server are not those of the cluster; empty where
// they are, as far as is known. What was once found stays: only another server, which joins, gets the
// cluster's data.
func (s Snapshot) Inconsistent(d ovndb.Database) string {
	l := s.Servers[d]
	switch {
	case l.Condition != ovndb.Serving:
		return ""
	case l.Inconsistent == "" && s.Cache.Inconsistent[d] == l.Status.Server:
		return notApplied
	}
	return l.Inconsistent
}

// inconsistent are the servers that were found so, with those that are now. What is not served now
// stays as it was.
func inconsistent(before map[ovndb.Database]raft.ID, servers map[ovndb.Database]ServerState) map[ovndb.Database]raft.ID {
	all := map[ovndb.Database]raft.ID{}
	for d, id := range before {
		if l := servers[d]; l.Condition != ovndb.Serving || l.Status.Server == id {
			all[d] = id
		}
	}
	for d, l := range servers {
		if l.Inconsistent != "" {
			all[d] = l.Status.Server
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
