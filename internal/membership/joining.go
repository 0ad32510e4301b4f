package membership

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// joinPatience is how long a server that joins, and has reached a member, may take to
// become one, besides what its database's size adds ([raft.Patience]).
const joinPatience = 10 * time.Second

// EndJoin stops a joining server, and checks that it has not become a member meanwhile: the others would count it for
// ever. If it has, EndJoin starts it again and returns a [*PendingError].
func (s *Changer) EndJoin(ctx context.Context, d ovndb.Database) error {
	joined := &PendingError{
		d,
		"the server has joined the cluster meanwhile and stays its member; the next try continues from there",
	}
	if s.joins(ctx, d) {
		return joined
	}
	service := ovndb.ServiceOf(d)
	if err := s.Services.Stop(ctx, service); err != nil {
		return err
	}
	member, err := s.Files.Joined(ctx, d)
	if err == nil && !member {
		return nil
	}
	if started := s.Services.Start(ctx, service); started != nil {
		return fmt.Errorf("cannot start the server of %s again, which has joined: %w", d, started)
	}
	if err != nil {
		return fmt.Errorf("cannot find out whether the server of %s has joined: %w", d, err)
	}
	return joined
}

// joins reports whether a server has become a member. A server that has reached the cluster gets time for it: the
// leader may count it before it knows of it itself.
func (s *Changer) joins(ctx context.Context, d ovndb.Database) bool {
	var l observe.ServerState
	poll.Await(ctx, s.Patience(d, joinPatience), observe.PollInterval, nil, func() bool {
		l = s.Observer.ObserveServer(ctx, d)
		return l.Member() || l.Condition != ovndb.Serving || !l.Status.HasLeader()
	})
	return l.Member()
}
