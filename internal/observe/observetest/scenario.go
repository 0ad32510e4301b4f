// Package observetest provides applications and their clusters as one unit sees them, for tests of packages that
// observe, report or change them.
package observetest

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Now is the time of every test.
var Now = time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)

// Full returns a server's whole ID, given its identity.
func Full(identity string) raft.ID { return raft.ID(identity + "7c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b") }

// Scenario is an application and its clusters, as one unit sees them.
type Scenario struct {
	T *testing.T
	// Unit is the observing unit, Version the version of its Juju.
	Unit, Version string
	// Goal is the goal-state: the status of each unit; nil if Juju can't be asked.
	Goal map[string]string
	// Published are the identities nb and sb of each unit; an empty one is not published.
	Published map[string][2]string
	// History maps a server, by its identity, to the unit that once had it.
	History map[ovndb.Database]map[string]string
	// NB and SB are the clusters.
	NB, SB Members
}

// Members are the members of one cluster, by their identities.
type Members struct {
	// Condition, if set, replaces the cluster.
	Condition ovndb.Condition
	Err       error
	State     raft.MemberState
	Role      raft.Role
	// Leader is the leader's identity; empty if there is none.
	Leader string
	Rows   []Row
	Unread []string
	// Full: this unit's disk is full.
	Full bool
	// ChangedBy is the unit that changes the membership.
	ChangedBy string
	// Lost are the identities of members with a record that they lost entries of their logs.
	Lost []string
}

// Row is a member; the zero value is up.
type Row struct {
	Identity string
	Down     bool
	// Searching: it answers that it is cut off from the cluster.
	Searching bool
	// Closed: its client port does not answer.
	Closed  bool
	Address string
	Phase   raft.Phase
	Extra   string
}

// Up returns working members; the first is this unit's own, and leads.
func Up(identities ...string) Members {
	return Members{State: raft.ClusterMember, Role: raft.Leader, Leader: identities[0]}.with(Row{}, identities)
}

// with adds members in the state of row.
func (m Members) with(row Row, identities []string) Members {
	for _, row.Identity = range identities {
		m.Rows = append(m.Rows, row)
	}
	return m
}

// Down adds members that are down.
func (m Members) Down(identities ...string) Members { return m.with(Row{Down: true}, identities) }

// Searching adds members that answer but know no leader.
func (m Members) Searching(identities ...string) Members {
	return m.with(Row{Searching: true}, identities)
}

// Closed adds working members with client ports that don't answer.
func (m Members) Closed(identities ...string) Members { return m.with(Row{Closed: true}, identities) }

// Following makes a member other than this unit's own the leader.
func (m Members) Following(leader string) Members {
	m.Role, m.Leader = raft.Follower, leader
	return m
}

// CutOff returns the members with this unit's server knowing no leader.
func (m Members) CutOff() Members {
	m.State, m.Role, m.Leader = raft.Disconnected, raft.Candidate, ""
	return m
}

// In returns the members with this unit's server in a state other than a member's.
func (m Members) In(state raft.MemberState) Members {
	m.State, m.Role, m.Leader = state, raft.Follower, ""
	return m
}

// Three returns a healthy application: this unit leads nb, another one sb.
func Three(t *testing.T) Scenario {
	t.Helper()
	return Scenario{
		T: t, Unit: "ovn-central/0", Version: "3.6.11",
		Goal: map[string]string{"ovn-central/0": "active", "ovn-central/1": "active", "ovn-central/2": "active"},
		Published: map[string][2]string{
			"ovn-central/0": {"aa00", "bb00"}, "ovn-central/1": {"aa01", "bb01"}, "ovn-central/2": {"aa02", "bb02"},
		},
		NB: Up("aa00", "aa01", "aa02"), SB: Up("bb00", "bb01", "bb02").Following("bb01"),
	}
}

// Led makes this unit lead sb too, so that no other server is asked.
func (s *Scenario) Led() *Scenario {
	s.SB = Up("bb00", "bb01", "bb02")
	return s
}

// JoinedBy4 returns an application of three units, with members that ovn-central/4 has left behind.
func JoinedBy4(t *testing.T) Scenario {
	t.Helper()
	s := Three(t)
	s.History = map[ovndb.Database]map[string]string{
		ovndb.NB: {"aa04": "ovn-central/4"},
		ovndb.SB: {"13fe": "ovn-central/4"},
	}
	return s
}

// Application returns the unit's view of the application.
func (s Scenario) Application() observe.Application {
	m := observe.Application{
		Unit: s.Unit, Version: juju.ReadEnv(func(string) string { return s.Version }).Version,
		Published: relation.UnitIdentities{}, History: relation.History{}, Relations: []string{"ovsdb-peer:0"},
	}
	if s.Goal != nil {
		m.Goal = map[string]juju.UnitGoal{}
	}
	for unit, status := range s.Goal {
		m.Goal[unit] = juju.UnitGoal{Status: status}
	}
	for unit, ids := range s.Published {
		m.Published[unit] = relation.Identities{}
		for i, d := range ovndb.Databases() {
			if ids[i] != "" {
				m.Published[unit][d] = relation.Identity{Server: Full(ids[i]), Cluster: Cluster(d)}
			}
		}
	}
	m.History = m.History.Publish(m.Published)
	for d, servers := range s.History {
		for identity, unit := range servers {
			m.History = m.History.Merge(relation.History{d: {Full(identity): {Unit: unit}}})
		}
	}
	return m
}

// Cluster returns the ID of each scenario's cluster of a database.
func Cluster(d ovndb.Database) raft.ID {
	return raft.ID(map[ovndb.Database]string{ovndb.NB: "c1", ovndb.SB: "c2"}[d] + "000000-0000-4000-8000-000000000000")
}

// other adds the state in r to another unit's member and to the status, and returns the member's answer.
func (m Members) other(r Row, member *raft.Member, status *raft.Status) (probes []raft.ProbeResult) {
	ago, match := 20*time.Millisecond, status.Committed()
	if r.Down {
		ago, match = time.Hour, match-3
	}
	member.LastMsg = &ago
	if m.Role == raft.Leader {
		member.Match = &match
	} else if !r.Down && !r.Closed {
		probes = append(probes, raft.ProbeResult{
			Address: member.Address, Server: Full(r.Identity), Cluster: status.Cluster,
			Connected: !r.Searching, Leader: r.Identity == m.Leader,
		})
	}
	if !r.Down {
		status.Connections = append(status.Connections,
			raft.Connection{Peer: r.Identity, Incoming: true, Up: true}, raft.Connection{Peer: r.Identity, Up: true})
	}
	return probes
}

// View returns the unit's view of one cluster.
func (s Scenario) View(d ovndb.Database, m Members) raft.View {
	cid := Cluster(d)
	status := raft.Status{
		Name: string(d), Cluster: cid, State: m.State, Role: m.Role, Leader: raft.UnknownRef, Vote: raft.UnknownRef,
		Term: 3, ElectionTimer: 4 * time.Second, Log: raft.Log{Start: 2, End: 12}, Address: Address(d, 0),
	}
	if m.Leader != "" {
		status.Leader = raft.Ref(m.Leader)
	}
	v := raft.View{Names: s.Application().Names(d), Full: m.Full, ChangedBy: m.ChangedBy}
	for _, identity := range m.Lost {
		v.Lost = append(v.Lost, Full(identity))
	}
	for i, r := range m.Rows {
		member := raft.Member{Short: r.Identity, Address: r.Address, Self: i == 0, Phase: r.Phase, Extra: r.Extra}
		if member.Address == "" {
			member.Address = Address(d, i)
		}
		if i > 0 {
			v.Probes = append(v.Probes, m.other(r, &member, &status)...)
		} else if status.Server = Full(r.Identity); m.Leader == r.Identity {
			status.Leader = raft.Self
		}
		status.Servers = append(status.Servers, member)
	}
	status.Unknown = m.Unread
	status.Text = textOf(status)
	v.Status = status
	return v
}

// textOf returns the text that ovsdb-server prints for a status of a member.
func textOf(s raft.Status) string {
	var connections, rows strings.Builder
	for _, c := range s.Connections {
		fmt.Fprintf(&connections, " %s%s", map[bool]string{true: "<-", false: "->"}[c.Incoming], c.Peer)
	}
	for _, m := range s.Servers {
		fmt.Fprintf(&rows, "    %s (%[1]s at %s)", m.Short, m.Address)
		if m.Self {
			rows.WriteString(" (self)")
		}
		if m.Phase != "" {
			fmt.Fprintf(&rows, " (%s)", m.Phase)
		}
		if m.Match != nil {
			fmt.Fprintf(&rows, " next_index=%d match_index=%d", s.Log.End, *m.Match)
		}
		if m.LastMsg != nil {
			fmt.Fprintf(&rows, " last msg %d ms ago", m.LastMsg.Milliseconds())
		}
		rows.WriteString(m.Extra + "\n")
	}
	return fmt.Sprintf("%s\nName: %s\nCluster ID: %s (%s)\nServer ID: %[1]s (%[5]s)\nAddress: %s\nStatus: %s\nRole: %s\n"+
		"Term: %d\nLeader: %s\nVote: %s\n\nElection timer: %d\nLog: [%d, %d]\nEntries not yet committed: %d\n"+
		"Entries not yet applied: %d\nConnections:%s\nServers:\n%s%s",
		s.Server.Short(), s.Name, s.Cluster.Short(), s.Cluster, s.Server, s.Address, s.State, s.Role,
		s.Term, s.Leader, s.Vote, s.ElectionTimer.Milliseconds(), s.Log.Start, s.Log.End, s.NotCommitted,
		s.NotApplied, &connections, &rows, strings.Join(s.Unknown, "\n"))
}

// Address returns the Raft address of the member in row i.
func Address(d ovndb.Database, i int) string {
	return "ssl:10.0.0.1" + string(rune('0'+i)) + ":" + fmt.Sprint(ovndb.RaftPort(d))
}

// Cluster returns the unit's report on one cluster.
func (s Scenario) Cluster(d ovndb.Database, m Members) observe.Cluster {
	c := observe.Cluster{ServerState: observe.ServerState{Database: d, Condition: ovndb.Serving}}
	if m.Condition != "" {
		c.Condition, c.Err = m.Condition, m.Err
		return c
	}
	c.View = s.View(d, m)
	c.Status, c.Quorum = c.View.Status, c.View.Quorum()
	application := s.Application()
	for _, p := range c.View.Peers() {
		o := application.Owner(d, p)
		c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: o, Leaving: o.Unit != "" && application.Dying(o.Unit)})
	}
	return c
}

// Report returns the unit's report on both clusters.
func (s Scenario) Report() observe.Report {
	return observe.Report{
		At: Now, Application: s.Application(),
		Clusters: []observe.Cluster{s.Cluster(ovndb.NB, s.NB), s.Cluster(ovndb.SB, s.SB)},
	}
}

// Observer returns the unit's observer, on a machine without programs.
func (s Scenario) Observer() *observe.Observer {
	env := map[string]string{"JUJU_UNIT_NAME": s.Unit, "JUJU_VERSION": s.Version}
	return &observe.Observer{Machine: &observe.Machine{
		Env:     juju.ReadEnv(func(key string) string { return env[key] }),
		Control: ovsctl.Control{Paths: ovndb.Paths{DB: s.T.TempDir()}},
		Dialer:  new(ovsdb.Dialer),
		Clients: func() (map[ovndb.Database]ovndb.Clients, error) { return nil, errors.New("not counted") },
		Now:     func() time.Time { return Now },
		Log:     slog.New(slog.DiscardHandler),
	}}
}
