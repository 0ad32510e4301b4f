package observe

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// longPollWindow is for how long back the server's log is looked at.
const longPollWindow = time.Hour

// ServerFacts is what an operator wants to know of a server that works, beside its cluster.
// What is nil could not be found out.
type ServerFacts struct {
	Schemas   *ovsctl.Schemas
	Storage   *raftfile.Storage
	LongPolls *ovsctl.LongPolls
	// Socket is the server's control socket, for commands that are printed.
	Socket string
}

// ServerFacts finds out about this unit's server of database d, which runs. It starts
// two programs; what fails is a line in the log.
func (s *Observer) ServerFacts(ctx context.Context, d ovndb.Database) *ServerFacts {
	facts := ServerFacts{Socket: s.Control.Paths.Control(d)}
	if schemas, err := s.Files.Schemas(ctx, d); err == nil {
		facts.Schemas = &schemas
	} else {
		s.Log.WarnContext(ctx, "cannot compare the schema", "database", d.Short(), "error", err)
	}
	if storage, err := raftfile.ReadStorage(s.Files.Paths, d); err == nil {
		facts.Storage = &storage
	} else {
		s.Log.WarnContext(ctx, "cannot look at the database file", "database", d.Short(), "error", err)
	}
	if polls, err := ovsctl.ReadLongPolls(s.Control.Paths, d, s.Now().Add(-longPollWindow)); err == nil {
		facts.LongPolls = &polls
	} else {
		s.Log.WarnContext(ctx, "cannot read the server's log", "database", d.Short(), "error", err)
	}
	return &facts
}
