package agent

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// leaderProbe determines whether this machine's member of a database is connected to its cluster. Only one goroutine
// may use it.
type leaderProbe struct {
	database ovndb.Database
	cutOff   bool
}

// check returns [ovsdb.ErrNoLeader] if the connection's member is this machine's and is cut off, although `_Server`
// still calls it connected ([raft.Status.CutOff]), until it has a leader again: before that its data is old. For a
// member elsewhere, or one whose control socket does not answer, `_Server` is all that is known.
func (t *leaderProbe) check(ctx context.Context, a *Agent, member raft.ID) error {
	status, known := t.status(ctx, a, member)
	if !known {
		return nil
	}
	t.cutOff = status.CutOff() || t.cutOff && !status.HasLeader()
	if t.cutOff {
		return ovsdb.ErrNoLeader
	}
	return nil
}

// leaderSilent reports whether the member is this machine's and its leader silent: a write would be sent to that
// leader, and only the write's deadline would show that it is gone.
func (t *leaderProbe) leaderSilent(ctx context.Context, a *Agent, member raft.ID) bool {
	status, known := t.status(ctx, a, member)
	return known && status.LeaderSilent()
}

func (t *leaderProbe) status(ctx context.Context, a *Agent, member raft.ID) (status raft.Status, known bool) {
	if member == "" {
		return status, false
	}
	ctx, cancel := context.WithTimeout(ctx, a.election.Beat()/2)
	defer cancel()
	status, err := ovsctl.Control{Paths: a.paths}.PollStatus(ctx, t.database)
	return status, err == nil && status.Server == member
}
