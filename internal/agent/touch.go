package agent

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// touch is whether this machine's member of a database is in touch with its cluster. One goroutine
// asks.
type touch struct {
	database ovndb.Database
	cutOff   bool
}

// inTouch returns [ovsdb.ErrNoLeader] where the member that a connection is to is this machine's, and
// was cut off, though `_Server` calls it connected still ([raft.Status.CutOff]): until it has a leader
// again, since it is behind before. Of a member elsewhere, or one whose control socket does not answer,
// no more is known than `_Server` says.
func (t *touch) inTouch(ctx context.Context, a *Agent, member raft.ID) error {
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

// leaderSilent says whether the member is this machine's, and its leader silent: what is written goes to
// that leader, and it takes the deadline of a write to find out that it is gone.
func (t *touch) leaderSilent(ctx context.Context, a *Agent, member raft.ID) bool {
	status, known := t.status(ctx, a, member)
	return known && status.LeaderSilent()
}

func (t *touch) status(ctx context.Context, a *Agent, member raft.ID) (status raft.Status, known bool) {
	if member == "" {
		return status, false
	}
	ctx, cancel := context.WithTimeout(ctx, a.election.Beat()/2)
	defer cancel()
	status, err := ovsctl.Control{Paths: a.paths}.PollStatus(ctx, t.database)
	return status, err == nil && status.Server == member
}
