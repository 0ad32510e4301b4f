package soak

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// ofThree is what a server of a cluster of three says.
func ofThree(cluster raft.ID, id raft.ID, leader raft.Ref) raft.Status {
	s := raft.Status{Cluster: &cluster, Server: id, State: raft.ClusterMember, Role: raft.Follower, Leader: leader, Servers: make([]raft.Member, 3)}
	if leader == raft.Self {
		s.Role = raft.Leader
	}
	return s
}

func TestClusterIsServedByALeaderThatAMajorityFollows(t *testing.T) {
	t.Parallel()
	leader := server{unit: "u0", cluster: "c", status: ofThree("c", "aaaa", raft.Self)}
	follower := server{unit: "u1", cluster: "c", status: ofThree("c", "bbbb", "aaaa")}
	alone := server{unit: "u1", cluster: "c", status: ofThree("c", "bbbb", raft.UnknownRef)}
	other := server{unit: "u2", cluster: "d", status: ofThree("d", "cccc", "aaaa")}
	assert.Equal(t, []raft.ID{"c"}, sighting{servers: []server{leader, follower}}.served())
	assert.Empty(t, sighting{servers: []server{leader, alone, other}}.served(), "it was cut off, and has not noticed")
	assert.Empty(t, sighting{servers: []server{follower}}.served())
}

func TestTwoClustersAreExcusedOnlyWhereTheOldOneCouldNotAsk(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	run := func(unit string, cluster, id raft.ID, leader raft.Ref, began int) server {
		s := server{unit: unit, cluster: cluster, status: ofThree(cluster, id, leader), began: second(began)}
		s.status.Servers = s.status.Servers[:2]
		return s
	}
	look := func(n, oldBegan, newBegan int) sighting {
		return sighting{at: second(n), current: "new", servers: []server{
			run("u0", "old", "aaaa", raft.Self, oldBegan), run("u1", "old", "bbbb", "aaaa", oldBegan),
			run("u2", "new", "cccc", raft.Self, newBegan), run("u3", "new", "dddd", "cccc", newBegan),
		}}
	}
	h := history{db: "nb", answer: 5 * time.Second}
	h.add(look(100, 60, 90))
	assert.Empty(t, h.seen(), "one look may have seen an end and a beginning")
	h.add(look(101, 60, 90))
	assert.Len(t, h.seen(), 1)
	assert.Empty(t, h.broken(time.Minute), "the old one was there before")
	assert.NotEmpty(t, h.broken(time.Millisecond), "it does not end")

	h = history{db: "nb", answer: 5 * time.Second}
	h.add(look(100, 96, 90))
	h.add(look(101, 96, 90))
	assert.Contains(t, h.broken(time.Minute), "the server of u0 was started at 00:01:36, after that of the new cluster on u2")

	h = history{db: "nb", answer: 5 * time.Second}
	h.add(look(100, 93, 90))
	h.add(look(101, 93, 90))
	assert.Empty(t, h.broken(time.Minute), "it was asked before it could answer")
}

func TestWritesOfAClusterThatWasGivenUpAreExcusedAndNoOthers(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	one := func(cluster raft.ID) sighting {
		s := ofThree(cluster, "aaaa", raft.Self)
		s.Servers = s.Servers[:1]
		return sighting{current: cluster, servers: []server{{unit: "u0", cluster: cluster, status: s}}}
	}
	h := history{db: "nb"}
	for n, cluster := range []raft.ID{"old", "old", "new", "new", "new"} {
		s := one(cluster)
		s.at = minute(n)
		s.servers[0].began = minute(map[raft.ID]int{"old": 0, "new": 2}[cluster])
		h.add(s)
	}
	assert.Equal(t, minute(1), h.lastServed("old"))
	assert.True(t, h.excuses(minute(1), "new"), "the old cluster acknowledged it")
	assert.False(t, h.excuses(minute(4), "new"), "the new one did")
	assert.False(t, h.excuses(minute(1), "old"), "no cluster was given up")
}

func TestRowsThatAMajorityOfTheCopiesHasAreKept(t *testing.T) {
	t.Parallel()
	a, b, c := map[string]bool{"x": true, "y": true}, map[string]bool{"x": true, "z": true}, map[string]bool{"z": true}
	assert.Equal(t, a, inMajority([]map[string]bool{a}))
	assert.Equal(t, map[string]bool{"x": true}, inMajority([]map[string]bool{a, b}))
	assert.Equal(t, map[string]bool{"x": true, "z": true}, inMajority([]map[string]bool{a, b, c}))
}
