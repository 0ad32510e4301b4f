package observe

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
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
