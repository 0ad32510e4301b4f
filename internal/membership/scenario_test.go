package membership_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// now is the time of every test.
var now = time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)

// full is a server's whole ID, given its identity.
func full(identity string) raft.ID { return raft.ID(identity + "7c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b") }

// scene is a model and its clusters, as one unit sees them.
type scene struct {
	t *testing.T
	// unit is the one that looks; it runs this version of Juju.
	unit, version string
	// goal is the status of each unit that Juju wants; nil: Juju can't be asked.
	goal map[string]string
	// published has the identities nb and sb of each unit; empty: none.
	published map[string][2]string
	// history has the unit that once had a server, by its identity.
	history map[ovndb.Database]map[string]string
	nb, sb  members
}

// members are those of one cluster, by their identities.
type members struct {
	// condition stands in the place of a cluster.
	condition ovndb.Condition
	err       error
	state     raft.State
	role      raft.Role
	// leader is the identity of the leader: none if it is empty.
	leader string
	rows   []row
	unread []string
	// full: this unit's own disk is.
	full bool
}

type row struct {
	identity string
	down     bool
	// searching: it answers that it is out of touch with the cluster.
	searching bool
	// closed: its client port does not answer.
	closed  bool
	address string
	phase   raft.Phase
	extra   string
}

// up are members that work, the first of them this unit's own, which leads.
func up(identities ...string) members {
	m := members{state: raft.ClusterMember, role: raft.Leader, leader: identities[0]}
	for _, id := range identities {
		m.rows = append(m.rows, row{identity: id})
	}
	return m
}

// down are members that do not.
func (m members) down(identities ...string) members {
	for _, id := range identities {
		m.rows = append(m.rows, row{identity: id, down: true})
	}
	return m
}

// searching are members that answer and hear no leader.
func (m members) searching(identities ...string) members {
	for _, id := range identities {
		m.rows = append(m.rows, row{identity: id, searching: true})
	}
	return m
}

// closed are members that work, and whose client ports don't answer.
func (m members) closed(identities ...string) members {
	for _, id := range identities {
		m.rows = append(m.rows, row{identity: id, closed: true})
	}
	return m
}

// following makes the leader another member than this unit's own.
func (m members) following(leader string) members {
	m.role, m.leader = raft.Follower, leader
	return m
}

// cutOff is a server that knows no leader any more.
func (m members) cutOff() members {
	m.state, m.role, m.leader = raft.Disconnected, raft.Candidate, ""
	return m
}

func (m members) in(state raft.State) members {
	m.state, m.role, m.leader = state, raft.Follower, ""
	return m
}

// three is a healthy application whose nb is led by this unit, and sb by another.
func three(t *testing.T) scene {
	t.Helper()
	return scene{
		t: t, unit: "ovn-central/0", version: "3.6.11",
		goal: map[string]string{"ovn-central/0": "active", "ovn-central/1": "active", "ovn-central/2": "active"},
		published: map[string][2]string{
			"ovn-central/0": {"aa00", "bb00"}, "ovn-central/1": {"aa01", "bb01"}, "ovn-central/2": {"aa02", "bb02"},
		},
		nb: up("aa00", "aa01", "aa02"), sb: up("bb00", "bb01", "bb02").following("bb01"),
	}
}

func (s scene) model() observe.Application {
	m := observe.Application{Unit: s.unit, Version: juju.ReadEnv(func(string) string { return s.version }).Version, Published: relation.UnitIdentities{}, History: relation.History{}, Relations: []string{"ovsdb-peer:0"}}
	if s.goal != nil {
		m.Goal = map[string]juju.UnitGoal{}
	}
	for unit, status := range s.goal {
		m.Goal[unit] = juju.UnitGoal{Status: status}
	}
	for unit, ids := range s.published {
		m.Published[unit] = relation.Identities{}
		for i, d := range ovndb.Databases() {
			if ids[i] != "" {
				m.Published[unit][d] = relation.Identity{Server: full(ids[i]), Cluster: cluster(d)}
			}
		}
	}
	m.History = m.History.Publish(m.Published)
	for d, servers := range s.history {
		for identity, unit := range servers {
			m.History = m.History.Merge(relation.History{d: {full(identity): {Unit: unit}}})
		}
	}
	return m
}

func cluster(d ovndb.Database) raft.ID {
	return raft.ID(map[ovndb.Database]string{ovndb.NB: "c1", ovndb.SB: "c2"}[d] + "000000-0000-4000-8000-000000000000")
}

// view is what this unit sees of one cluster.
func (s scene) view(d ovndb.Database, m members) raft.View {
	cid := cluster(d)
	status := raft.Status{
		Name: string(d), Cluster: &cid, State: m.state, Role: m.role, Leader: raft.UnknownRef, Vote: raft.UnknownRef,
		Term: 3, ElectionTimer: 4 * time.Second, Log: raft.Log{Start: 2, End: 12}, Address: address(d, 0),
	}
	if m.leader != "" {
		status.Leader = raft.Ref(m.leader)
	}
	v := raft.View{Names: s.model().Names(d), Full: m.full}
	for i, r := range m.rows {
		member := raft.Member{Nick: r.identity, Short: r.identity, Address: r.address, Self: i == 0, Phase: r.phase, Extra: r.extra}
		if member.Address == "" {
			member.Address = address(d, i)
		}
		ago, match := 20*time.Millisecond, status.Committed()
		if r.down {
			ago, match = time.Hour, match-3
		}
		if i > 0 {
			member.LastMsg = &ago
		}
		switch {
		case i == 0:
			status.Nick, status.Server = r.identity, full(r.identity)
			if m.leader == r.identity {
				status.Leader = raft.Self
			}
		case m.role == raft.Leader:
			member.Match, member.Next = &match, &status.Log.End
		case !r.down && !r.closed:
			v.Probes = append(v.Probes, raft.ProbeResult{
				Address: member.Address, Server: full(r.identity), Cluster: cid, Connected: !r.searching, Leader: r.identity == m.leader,
			})
		}
		if i > 0 && !r.down {
			status.Connections = append(status.Connections, raft.Connection{Peer: r.identity, Incoming: true, Up: true})
		}
		status.Servers = append(status.Servers, member)
	}
	for i, text := range m.unread {
		status.Unknown = append(status.Unknown, raft.Unknown{Line: 30 + i, Text: text})
	}
	v.Status = status
	return v
}

func address(d ovndb.Database, i int) string {
	return "ssl:10.0.0.1" + string(rune('0'+i)) + ":" + fmt.Sprint(ovndb.RaftPort(d))
}

func (s scene) cluster(d ovndb.Database, m members) observe.Cluster {
	c := observe.Cluster{ServerState: observe.ServerState{Database: d, Condition: ovndb.Serving}}
	if m.condition != "" {
		c.Condition, c.Err = m.condition, m.err
		return c
	}
	c.View = s.view(d, m)
	c.Status, c.Quorum = c.View.Status, c.View.Quorum()
	model := s.model()
	for _, p := range c.View.Peers() {
		o := model.Owner(d, p)
		c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: o, Leaving: o.Unit != "" && model.Dying(o.Unit)})
	}
	return c
}

func (s scene) report() observe.Report {
	return observe.Report{Application: s.model(), Clusters: []observe.Cluster{s.cluster(ovndb.NB, s.nb), s.cluster(ovndb.SB, s.sb)}}
}

func (s scene) observer() *observe.Observer {
	env := map[string]string{"JUJU_UNIT_NAME": s.unit, "JUJU_VERSION": s.version}
	return &observe.Observer{Machine: &observe.Machine{
		Env:     juju.ReadEnv(func(key string) string { return env[key] }),
		Control: ovn.Control{Paths: ovndb.Paths{DB: s.t.TempDir()}},
		Dialer:  new(ovsdb.Dialer),
		Clients: func(ovndb.Database) (ovndb.Clients, error) { return ovndb.Clients{}, errors.New("not counted") },
		Now:     func() time.Time { return now },
		Log:     slog.New(slog.DiscardHandler),
	}}
}

func (s scene) service() *membership.Changer {
	o := s.observer()
	return &membership.Changer{Machine: o.Machine, Observer: o}
}

func TestSceneIsWhatTheServiceItselfWouldReport(t *testing.T) {
	s := three(t)
	s.sb = up("bb00", "bb01").down("bb02") // a leader need not ask anybody
	report := s.report()
	servers := map[ovndb.Database]observe.ServerState{}
	for _, c := range report.Clusters {
		servers[c.Database] = c.ServerState
	}
	found := s.observer().Report(t.Context(), s.model(), servers)
	require.Len(t, found.Clusters, 2)
	for i, c := range found.Clusters {
		require.Equal(t, report.Clusters[i].Rows, c.Rows)
		require.Equal(t, report.Clusters[i].Quorum, c.Quorum)
	}
}
