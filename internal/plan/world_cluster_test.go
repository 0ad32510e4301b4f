package plan_test

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// server is a database's file, and the process on it if one runs.
type server struct {
	*machine
	id      raft.ID
	cluster *cluster
	// joining: it is not a member yet, and asks these addresses.
	joining bool
	remotes []string
	left    bool
	running bool
	// runs is the version with which it was last started.
	runs string
	// outside: it was killed while it joined, and can't start again.
	outside bool
	// failed: it has stopped serving the database.
	failed bool
}

// cluster is the state that a majority of its members agrees on.
type cluster struct {
	id raft.ID
	db ovndb.Database
	// members is the configuration. It includes the server that a leader is about to commit, whether or not that server
	// still exists.
	members []*server
	adding  *server
	leader  *server
	// started: a server has run on it.
	started bool
	// removed are recorded in the database.
	removed map[raft.ID]bool
	timer   time.Duration
	probe   time.Duration
	schema  string
}

func (w *world) newServer(m *machine, c *cluster) *server {
	return &server{machine: m, id: w.id(), cluster: c}
}

func (w *world) newCluster(m *machine, db ovndb.Database, timer time.Duration) *server {
	c := &cluster{id: w.id(), db: db, removed: map[raft.ID]bool{}, timer: timer, schema: m.version}
	w.clusters[c.id] = c
	return w.newServer(m, c)
}

// trusts reports whether two machines accept each other's certificates.
func trusts(a, b *machine) bool {
	return a == b || a.used != nil && b.used != nil &&
		slices.Contains(a.used.Trusts, b.used.Issuer) && slices.Contains(b.used.Trusts, a.used.Issuer)
}

func (s *server) works() bool { return s.running && !s.failed && !s.left }

func connected(a, b *server) bool { return a.works() && b.works() && trusts(a.machine, b.machine) }

func (c *cluster) has(s *server) bool { return slices.Contains(c.members, s) }

// others counts the other members that a server reaches.
func (c *cluster) others(s *server) (n int) {
	for _, m := range c.members {
		if m != s && connected(s, m) {
			n++
		}
	}
	return n
}

// hasMajority reports whether a member reaches more than half of the members.
func (c *cluster) hasMajority(s *server) bool {
	return c.has(s) && s.works() && 1+c.others(s) >= raft.Majority(len(c.members))
}

// leading returns the cluster's leader, newly elected if necessary; nil if none can be.
func (w *world) leading(c *cluster) *server {
	if c.leader != nil && c.hasMajority(c.leader) {
		return c.leader
	}
	fit := slices.DeleteFunc(slices.Clone(c.members), func(s *server) bool { return !c.hasMajority(s) })
	c.leader, _ = pick(w, fit)
	c.adding = nil
	return c.leader
}

// follows reports whether a server is a member with a leader.
func (w *world) follows(s *server) bool {
	leader := w.leading(s.cluster)
	return leader != nil && s.cluster.has(s) && connected(s, leader)
}

// status returns a running server's status.
func (w *world) status(s *server) raft.Status {
	c := s.cluster
	st := raft.Status{
		Name: string(c.db), Cluster: c.id, Server: s.id, Address: s.raftAddress(),
		State: raft.Disconnected, Role: raft.Candidate, Leader: raft.UnknownRef, Vote: raft.UnknownRef,
		ElectionTimer: c.timer,
	}
	switch leader := w.leading(c); {
	case s.joining:
		st.State, st.Role, st.Remotes = raft.JoiningCluster, raft.Follower, s.remotes
		if w.contact(s) != nil {
			st.Connections = []raft.Connection{{Peer: "0000", Up: true}}
		}
		if c.adding == s {
			st.Leader = raft.Ref(leader.id.Short())
		}
	case leader == s:
		st.State, st.Role, st.Leader = raft.ClusterMember, raft.Leader, raft.Self
	case w.follows(s):
		st.State, st.Role, st.Leader = raft.ClusterMember, raft.Follower, raft.Ref(leader.id.Short())
	}
	for _, m := range c.members {
		st.Servers = append(st.Servers, raft.Member{Short: m.id.Short(), Address: m.raftAddress(), Self: m == s})
		if m != s && !s.joining && connected(m, s) {
			st.Connections = append(st.Connections, raft.Connection{Peer: m.id.Short(), Incoming: true, Up: true})
		}
	}
	return st
}

func (s *server) raftAddress() string { return ovndb.RaftAddress(s.cluster.db, s.machine.address) }

// start runs a server on its file.
func (w *world) start(s *server) {
	s.running, s.failed, s.runs = true, false, s.machine.version
	if c := s.cluster; !c.started && !s.joining {
		c.started, c.members = true, []*server{s}
	}
}

// progress advances a joining server: a leader that it reaches through its remotes adds it, and commits that a little
// later.
func (w *world) progress(s *server) {
	c := s.cluster
	leader := w.leading(c)
	switch {
	case leader == nil || !s.joining:
	case c.adding == s && (s.works() || c.canCommit(leader) && w.chance(50)):
		c.members, c.adding, s.joining = append(c.members, s), nil, false
		w.say("%s commits %s at %s", c.db.Short(), s.id.Short(), s.machine.address)
	case c.adding == s && !s.works():
		if w.calm || w.chance(50) {
			c.adding = nil
		}
	case c.adding == nil && s.works() && connected(s, leader) && w.contact(s) != nil:
		c.adding = s
	}
}

// canCommit reports whether there is a majority after one more member is added.
func (c *cluster) canCommit(leader *server) bool {
	return 1+c.others(leader) >= raft.Majority(len(c.members)+1)
}

// contact returns a member that a joining server can ask.
func (w *world) contact(s *server) *server {
	for _, m := range s.cluster.members {
		if connected(s, m) && slices.Contains(s.remotes, m.raftAddress()) {
			return m
		}
	}
	return nil
}

// kick removes a member, if a majority is up before and after.
func (w *world) kick(s *server) {
	c := s.cluster
	leader := w.leading(c)
	if leader == nil || leader == s || c.adding != nil || !c.has(s) {
		return
	}
	up := 1 + c.others(leader)
	if connected(leader, s) {
		up--
	}
	if up < raft.Majority(len(c.members)-1) {
		return
	}
	c.members = slices.DeleteFunc(slices.Clone(c.members), func(m *server) bool { return m == s })
	c.removed[s.id] = true
	s.left = s.works()
	w.say("%s of %s is removed from %s", s.id.Short(), s.machine.address, c.db.Short())
}
