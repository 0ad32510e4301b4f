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

// Join is the progress of a server of this unit that joins a cluster.
type Join struct {
	Server raft.ID `json:"server"`
	// End is the end of its log, Since when that was first seen. The leader sends it the log, so it grows until the
	// server is a member.
	End   uint64    `json:"end"`
	Since time.Time `json:"since"`
	// Earlier counts the servers that have tried to join before, since the unit last had a member.
	Earlier int `json:"earlier,omitempty"`
}

const (
	// lostJoinPatience is how long the log of a joining server that knows the leader may stay unchanged, besides the
	// time for its database's size. It grows within a second of the leader's answer, by a whole snapshot at once: the
	// longest one measured took 30 s ([raft.Patience]).
	lostJoinPatience = 5 * time.Minute
	// mostDoublings limits the longer wait for each further server, to five hours: each leaves a copy of the database
	// behind.
	mostDoublings = 6
)

// JoinIsLost reports whether a server's join will never end: it knows the leader, but the leader sends it nothing.
// Before 2.17.10, 3.1.5, 3.2.3 and 3.3.1, a leader that lost leadership for a moment, and with it the answer of the
// server that it was adding, keeps waiting for that answer, and rejects each new attempt as already in progress (Open
// vSwitch, "ovsdb: raft: Fix inability to join after leadership change round trip").
func (s Snapshot) JoinIsLost(d ovndb.Database, now time.Time, size int64) bool {
	l, join := s.Servers[d], s.Cache.Joins[d]
	if l.Condition != ovndb.Serving || l.Status.State != raft.JoiningCluster || !l.Status.HasLeader() {
		return false
	}
	if join.Server != l.Status.Server || join.End != l.Status.Log.End {
		return false // it has progressed since
	}
	return now.Sub(join.Since) >= raft.Patience(lostJoinPatience, size)<<min(join.Earlier, mostDoublings)
}

// joins returns the joins in progress, with the time of their last progress. A server that is not serving may be
// between two attempts.
func joins(
	before map[ovndb.Database]Join, servers map[ovndb.Database]ServerState, now time.Time,
) map[ovndb.Database]Join {
	all := map[ovndb.Database]Join{}
	for d, l := range servers {
		known, was := before[d]
		next := Join{Server: l.Status.Server, End: l.Status.Log.End, Since: now, Earlier: known.Earlier}
		switch {
		case l.Condition != ovndb.Serving:
			next = known
		case l.Status.State != raft.JoiningCluster:
			continue
		case was && known.Server != next.Server:
			next.Earlier++
		// otherwise the clock was set back
		case was && known.End == next.End && l.Status.HasLeader() && !known.Since.After(now):
			next = known
		}
		if next.Server != "" {
			all[d] = next
		}
	}
	return all
}

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
// the timeout with the last state. The server's own status can't show that it lags.
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
