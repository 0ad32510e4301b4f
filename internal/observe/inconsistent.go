package observe

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// notApplied is the reason for a server that was found inconsistent before its restart: after a compaction it no longer
// reports that, although its data is unchanged.
const notApplied = "an entry of its log was not applied"

// observeStorage asks a server whether it has applied its whole log. The raft library stores an entry before the
// database applies it. An entry that can't be applied is skipped, and the member votes and acknowledges as before.
func (s *Observer) observeStorage(ctx context.Context, l *ServerState) {
	said, err := s.Control.StorageError(ctx, l.Database)
	switch {
	case err != nil:
		s.Log.DebugContext(ctx, "cannot ask whether the server has applied all of its log",
			"database", l.Database.Short(), "error", err)
	case said != "":
		l.Inconsistent = notApplied + ": " + said
	}
}

// Inconsistent explains why the data of this unit's server differs from the cluster's; empty if it does not, as far as
// is known. The result is kept: only a new server that joins gets the cluster's data.
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

// inconsistent returns the servers that were or are inconsistent. A server that is not serving keeps its entry.
func inconsistent(
	before map[ovndb.Database]raft.ID, servers map[ovndb.Database]ServerState,
) map[ovndb.Database]raft.ID {
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
	return all
}
