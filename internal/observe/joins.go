package observe

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Join is how far a server of this unit that joins a cluster has come.
type Join struct {
	Server raft.ID `json:"server"`
	// End is that of its log, and Since is when it was first seen there. A member catches it up, so
	// that it grows until it is a member itself.
	End   uint64    `json:"end"`
	Since time.Time `json:"since"`
	// Earlier counts the servers that have tried to join before it, since the unit had a member.
	Earlier int `json:"earlier,omitempty"`
}

const (
	// lostJoinPatience is how long the log of a server that joins, and knows the leader, may stay as it
	// is, besides what its database's size adds. It grows within a second of the leader's answer, and at
	// once by a whole snapshot: the longest one that was measured took 30 s ([raft.Patience]).
	lostJoinPatience = 5 * time.Minute
	// mostDoublings bounds by how much longer each further server is waited for, to five hours: each
	// leaves a copy of the database behind.
	mostDoublings = 6
)

// JoinIsLost says that a server's join will not end: it knows the leader, which sends it nothing any
// more. Before 2.17.10, 3.1.5, 3.2.3 and 3.3.1 a leader that was none for a moment, and has lost with
// that the answer of the server that it was adding, goes on waiting for that answer, and calls each new
// try of the server one that is in progress (Open vSwitch, "ovsdb: raft: Fix inability to join after
// leadership change round trip").
func (s Snapshot) JoinIsLost(d ovndb.Database, now time.Time, size int64) bool {
	l, join := s.Servers[d], s.Cache.Joins[d]
	if l.Condition != ovndb.Serving || l.Status.State != raft.JoiningCluster || !l.Status.HasLeader() {
		return false
	}
	if join.Server != l.Status.Server || join.End != l.Status.Log.End {
		return false // it has come further since
	}
	return now.Sub(join.Since) >= raft.Patience(lostJoinPatience, size)<<min(join.Earlier, mostDoublings)
}

// joins are those that go on, with since when each is where it is. What is not served now may be on its
// way to its next try.
func joins(before map[ovndb.Database]Join, servers map[ovndb.Database]ServerState, now time.Time) map[ovndb.Database]Join {
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
		case was && known.End == next.End && l.Status.HasLeader() && !known.Since.After(now): // else the clock was set back
			next = known
		}
		if next.Server != "" {
			all[d] = next
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
