package membership

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// electionPatience bounds the wait for an election that another member's leave
// has caused: a leader that leaves costs one and a half election timers.
const electionPatience = 10 * time.Second

// evaluate judges a change in a view of the cluster. While the cluster has no leader, it looks again for two election
// timers, since an election takes that long at most. It leaves in l the state that it judged. If there is a lock k,
// what the lock records is part of the view.
func (s *Changer) evaluate(ctx context.Context, l *observe.ServerState, m observe.Application, k *lock,
	judge func(raft.View) raft.Plan,
) (raft.View, raft.Plan, error) {
	patience, cancel := context.WithTimeout(ctx, min(2*l.Status.ElectionTimer, electionPatience))
	defer cancel()
	for told := false; ; {
		view, plan, err := s.judge(ctx, l, m, k, judge)
		if err != nil {
			return view, plan, err
		}
		if !plan.NoQuorum() || poll.Wait(patience, lockInterval) != nil {
			return view, plan, ctx.Err()
		}
		if !told {
			told = true
			s.Progress(ctx, fmt.Sprintf("%s: no leader is known; waiting for an election, at most %s", l.Database.Short(),
				min(2*l.Status.ElectionTimer, electionPatience)))
		}
		next := s.Observer.ObserveServer(ctx, l.Database)
		if next.Condition != ovndb.Serving {
			return view, plan, fmt.Errorf("cannot judge %s: %s", l.Database, next.Text())
		}
		*l = next
	}
}

// judge is [Changer.evaluate] by one look.
func (s *Changer) judge(ctx context.Context, l *observe.ServerState, m observe.Application, k *lock,
	judge func(raft.View) raft.Plan,
) (raft.View, raft.Plan, error) {
	view, err := s.Observer.View(ctx, *l, m.Names(l.Database))
	if err != nil {
		return view, raft.Plan{}, err
	}
	l.Status, view.Down = view.Status, k.down()
	if k != nil {
		ids, _, _, err := k.read(ctx)
		if err != nil {
			return view, raft.Plan{}, fmt.Errorf("cannot judge %s: %w", l.Database, err)
		}
		view.Lost = observe.DamagedServers(ids)
	}
	plan := judge(view)
	if plan.Refusal != nil {
		*plan.Refusal = status.Named(m, l.Database, *plan.Refusal)
	}
	return view, plan, nil
}
