package observe

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// longPollWindow is how much of the server's log is read.
const longPollWindow = time.Hour

// ServerFacts are an operator's facts about a running server, apart from its cluster. Unknown ones are nil.
type ServerFacts struct {
	Schemas   *ovsctl.Schemas
	Storage   *raftfile.Storage
	LongPolls *ovsctl.LongPolls
	// Socket is the server's control socket, for printed commands.
	Socket string
}

// ServerFacts collects the facts about this unit's running server of database d. It starts two programs; failures are
// logged.
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
