package observe

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// newest is the highest index that any other member shows its clients.
func (s *Observer) newest(ctx context.Context, l ServerState) (index uint64) {
	for _, address := range OtherAddresses(l.Status) {
		ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
		state, err := s.Dialer.Server(ctx, l.Database, ovsdb.Endpoints(l.Database, address)...)
		cancel()
		if err == nil {
			index = max(index, state.Index)
		}
	}
	return index
}

// leaderConnectionPatience is how long a restarted member waits for its leader's connection. The leader reconnects
// after up to 8 s if this server was down for long (RECONNECT_DEFAULT_MAX_BACKOFF in OVS's lib/reconnect.h).
const leaderConnectionPatience = 10 * time.Second

// LeaderUnreachable reports whether a member follows a leader whose own connection to it is not yet established, as
// just after this server's start. Until then, this unit has to count the leader as down (R0).
func (l ServerState) LeaderUnreachable() bool {
	return l.Member() && l.Status.Role == raft.Follower && l.Status.HasLeader() && !l.Status.Hears(string(l.Status.Leader))
}

// AwaitMember returns when this unit's server is a member that knows a leader and has caught up with the others, or at
// the timeout with the last state. The server's own status can't show that it lags: it does not know the entries that
// it has not received.
func (s *Observer) AwaitMember(ctx context.Context, db ovndb.Database, timeout time.Duration) (ServerState, error) {
	var l ServerState
	var others uint64
	asked, patient := false, s.Now().Add(leaderConnectionPatience)
	if !poll.Await(ctx, timeout, PollInterval*5, nil, func() bool {
		if l = s.ObserveServer(ctx, db); !l.MemberWithLeader() {
			return false
		}
		if !asked {
			others, asked = s.newest(ctx, l), true
		}
		// The leader reconnects only after the member has caught up.
		return (!l.LeaderUnreachable() || s.Now().After(patient)) && l.Status.Committed() >= others
	}) {
		return l, fmt.Errorf("%s: this unit's server is not a working member after %s: %s", db.Short(), timeout, l.Text())
	}
	return l, nil
}
