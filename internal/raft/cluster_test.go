package raft

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// someCluster is the ID of the simulated cluster.
const someCluster ID = "c1c1c1c1-0000-4000-8000-000000000000"

// noLeader is the index of the leader if there is no leader.
const noLeader = -1

// memberID returns the ID of member i of a simulated cluster, with the identity a000 plus i.
func memberID(i int) ID {
	return ID(fmt.Sprintf("%04x0000-0000-4000-8000-%012x", 0xa000+i, i))
}

func memberAddress(i int) string { return fmt.Sprintf("tcp:10.0.0.%d:6643", i) }

// viewOf returns member 0's view of a cluster. up reports for each member whether it is up. A leader's view shows that
// by indexes and times, a follower's by connections and answers.
func viewOf(leader int, up []bool) View {
	self := memberID(0)
	v := View{Status: Status{
		Name: string(ovndb.NB), Cluster: someCluster, Server: self, Address: memberAddress(0),
		State: ClusterMember, Role: Follower, Term: 3, Leader: UnknownRef, Vote: UnknownRef,
		ElectionTimer: time.Second, Log: Log{Start: 2, End: 12},
	}}
	s := &v.Status
	switch {
	case leader == 0:
		s.Role, s.Leader, s.Vote = Leader, Self, Self
	case leader > 0:
		s.Leader = Ref(memberID(leader).Short())
	}
	for i, isUp := range up {
		m := Member{Short: memberID(i).Short(), Address: memberAddress(i), Self: i == 0}
		if leader == 0 {
			m.Match = new(uint64(11))
		}
		if i > 0 {
			s.Connections = append(s.Connections, Connection{Peer: m.Short, Up: isUp})
		}
		if i > 0 && isUp {
			s.Connections = append(s.Connections, Connection{Peer: m.Short, Incoming: true, Up: true})
			v.Probes = append(v.Probes, answerOf(m, memberID(i), someCluster))
		}
		if i > 0 && leader == 0 {
			m.LastMsg = new(100 * time.Millisecond)
			if !isUp {
				m.LastMsg = new(3 * time.Second)
			}
		}
		s.Servers = append(s.Servers, m)
	}
	return v
}

func answerOf(m Member, server, cluster ID) ProbeResult {
	return ProbeResult{Address: m.Address, Server: server, Cluster: cluster, Connected: true}
}

// allUp returns the states of n members, all up except those in down.
func allUp(n int, down ...int) []bool {
	up := make([]bool, n)
	for i := range up {
		up[i] = true
	}
	for _, i := range down {
		up[i] = false
	}
	return up
}

// pattern returns the n lowest bits.
func pattern(bits, n int) []bool {
	all := make([]bool, n)
	for i := range all {
		all[i] = bits&(1<<i) != 0
	}
	return all
}

// captureStatus parses a file of testdata.
func captureStatus(t testing.TB, name string) Status {
	t.Helper()
	s, err := Parse(capture(t, name+".txt"))
	require.NoError(t, err)
	return s
}

// rowOf returns the member with an identity.
func rowOf(t testing.TB, s *Status, short string) *Member {
	t.Helper()
	for i := range s.Servers {
		if s.Servers[i].Short == short {
			return &s.Servers[i]
		}
	}
	require.Failf(t, "no such member", "%s", short)
	return nil
}

// fullOf returns a full ID with the identity short.
func fullOf(short string) ID { return ID(short + "0000-1111-4222-8333-444444444444") }

// answers returns healthy answers of the named members.
func answers(t testing.TB, s Status, shorts ...string) []ProbeResult {
	t.Helper()
	var all []ProbeResult
	for _, short := range shorts {
		all = append(all, answerOf(*rowOf(t, &s, short), fullOf(short), s.Cluster))
	}
	return all
}
