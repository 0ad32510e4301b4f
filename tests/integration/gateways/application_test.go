package gateways

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// application plays the units of the charm, and what ovn-central/0, which leads both clusters, observes of their
// members. Unit 3 is on the machine of a cloud's first chassis.
type application struct {
	// units are the units of the model. members are the members of both clusters, down those of them that are down.
	units, members, down []int
	uncommitted          uint64
	// unread is the reason why Juju could not be asked.
	unread error
}

func unitName(n int) string { return fmt.Sprintf("ovn-central/%d", n) }

func serverID(d ovndb.Database, n int) raft.ID {
	return raft.ID(fmt.Sprintf("%s0%d0000-0000-4000-8000-%012x", map[ovndb.Database]string{ovndb.NB: "aa", ovndb.SB: "bb"}[d], n, n))
}

func raftAddress(d ovndb.Database, n int) string {
	if n == 3 {
		return ovndb.RaftAddress(d, "127.0.0.1")
	}
	return ovndb.RaftAddress(d, fmt.Sprintf("10.9.0.%d", n))
}

func (a *application) seen() observe.Application {
	m := observe.Application{
		Unit: unitName(0), Goal: map[string]juju.UnitGoal{}, Published: relation.UnitIdentities{}, History: relation.History{},
		Places: map[string]observe.Place{}, Unread: a.unread,
	}
	for n := range 4 {
		ids := relation.Identities{}
		for _, d := range ovndb.Databases() {
			ids[d] = relation.Identity{Server: serverID(d, n)}
			if m.History[d] == nil {
				m.History[d] = map[raft.ID]relation.ServerRecord{}
			}
			m.History[d][serverID(d, n)] = relation.ServerRecord{Unit: unitName(n)}
		}
		if slices.Contains(a.units, n) {
			m.Goal[unitName(n)], m.Published[unitName(n)] = juju.UnitGoal{Status: "active"}, ids
			m.Places[unitName(n)] = observe.Place{Hostname: fmt.Sprintf("machine-%d", n)}
		}
	}
	return m
}

func (a *application) report() observe.Report {
	r := observe.Report{Application: a.seen()}
	for _, d := range ovndb.Databases() {
		s := raft.Status{
			Name: string(d), Server: serverID(d, 0), Address: raftAddress(d, 0), State: raft.ClusterMember, Role: raft.Leader, Leader: raft.Self,
			Term: 3, ElectionTimer: time.Second, Log: raft.Log{Start: 2, End: 12}, NotCommitted: a.uncommitted,
		}
		for _, n := range a.members {
			m := raft.Member{Short: serverID(d, n).Short(), Address: raftAddress(d, n), Self: n == 0, Match: new(uint64(11)), LastMsg: new(100 * time.Millisecond)}
			if slices.Contains(a.down, n) {
				m.LastMsg = new(time.Hour)
			}
			s.Servers = append(s.Servers, m)
			s.Connections = append(s.Connections, raft.Connection{Peer: m.Short, Incoming: true, Up: true}, raft.Connection{Peer: m.Short, Up: true})
		}
		c := observe.Cluster{ServerState: observe.ServerState{Database: d, Condition: ovndb.Serving, Status: s}, View: raft.View{Status: s, Names: r.Application.Names(d)}}
		c.Quorum = c.View.Quorum()
		for _, p := range c.View.Peers() {
			c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: r.Application.Owner(d, p)})
		}
		r.Clusters = append(r.Clusters, c)
	}
	return r
}

func (a *application) charm(context.Context) maintenance.Charm {
	r, servers := a.report(), map[ovndb.Database]observe.ServerState{}
	for _, c := range r.Clusters {
		servers[c.Database] = c.ServerState
	}
	return node.CharmOf(r.Application, servers, "machine-0")
}

func (a *application) health(context.Context) []maintenance.DatabaseHealth {
	return node.Health(a.report())
}

func lineOf(code finding.Code, args finding.Args) string {
	return finding.New(code, finding.Subject{}, args).Line()
}

// 002-5, 002-6: before anything is done, the clusters are judged without the members on the node's machine (R1).
// Unknown members do not count as absent.
func TestR1_decommission_that_would_harm_clusters_is_refused(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	s := c.nodeService()
	r := node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Minute}, Clear: time.Minute, Confirmed: true}
	for name, test := range map[string]struct {
		application
		least int
		says  string
	}{
		"the quorum would be lost": {
			application{units: []int{0, 1, 3}, members: []int{0, 1, 3}, down: []int{1}},
			0,
			"RemoveMemberError (500): nb: " +
				lineOf(finding.QuorumWouldBeLost, finding.Args{Count: 2, Total: 3, After: finding.Tally{Up: 1, Members: 2}}),
		},
		"it has the only member": {
			application{units: []int{0, 3}, members: []int{3}},
			0,
			"nb: " + lineOf(finding.QuorumWouldBeLost, finding.Args{Count: 1, Total: 1}),
		},
		"there is no quorum":    {application{units: []int{0, 1, 2}, members: []int{0, 1, 2}, down: []int{1, 2}}, 0, "ClusterNotAccessible (500): nb: " + lineOf(finding.NoQuorum, finding.Args{}) + " (" + finding.Tally{Up: 1, Members: 3}.String()},
		"too few would be left": {application{units: []int{0, 1, 3}, members: []int{0, 1, 3}}, 3, lineOf(finding.FewUpThen, finding.Args{Count: 2, Total: 3})},
		"Juju can't be asked": {
			application{units: []int{0, 1, 2}, members: []int{0, 1, 2}, unread: errors.New("connection is shut down")},
			0,
			"RemoveMemberError (500): " + lineOf(finding.MachineUnknown, finding.Args{}) + " (connection is shut down)",
		},
	} {
		s.Charm, s.Health, s.Unit = test.charm, test.health, unitName(0)
		r.MinMembers = test.least
		for _, dryRun := range []bool{true, false} {
			r.DryRun = dryRun
			said := s.Decommission(t.Context(), r)
			assert.Equal(t, answer.DisassociateFailure, said.Reason, name)
			assert.Equal(t, finding.NodeNeeded, codeOf(said), name)
			assert.Contains(t, said.Message, test.says, name)
		}
		assert.Nil(t, c.node("c1").Cordon, name)
	}
	s.Charm = (&application{unread: errors.New("connection is shut down")}).charm
	kept := s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true, DryRun: true})
	assert.Equal(t, 409, kept.Code)
	assert.True(t, slices.ContainsFunc(kept.Details.MessageList, func(m answer.Message) bool {
		return m.Code == string(finding.MachineUnknown)
	}), document.Answer(kept))
}

// 002-5, 002-6, R6: a decommission ends only once the unit on the node's machine has left the application, and its
// members have left the committed configuration of both clusters, whatever has happened to the unit. Then the clusters
// must be healthy.
func TestDecommission_waits_for_unit_and_clusters(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	r := node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Minute}, Clear: time.Minute, Confirmed: true}
	a := &application{units: []int{0, 1, 2, 3}, members: []int{0, 1, 2, 3}}
	s := c.nodeService()
	s.Charm, s.Health = a.charm, a.health
	require.Equal(t, 409, s.Remove(t.Context(), node.Request{Node: "c1", DryRun: true}).Code)

	s.Unit = unitName(3)
	assert.Equal(t, finding.NodeOfUnit, codeOf(s.Decommission(t.Context(), r)))
	s.Unit = unitName(0)
	said := s.Decommission(t.Context(), r)
	assert.Equal(t, answer.DisassociateFailure, said.Reason)
	assert.Equal(t, finding.NodeInUse, codeOf(s.RemoveMember(t.Context(), node.Request{Node: "c1"})))
	assert.Contains(t, detail(said, "remove-member"), answer.RemoveMemberError)
	assert.Equal(t, []string{"UNIT_STAYS ovn-central/3", "MEMBER_STAYS aa03", "MEMBER_STAYS bb03"}, found(said))
	assert.Contains(t, detail(said, "ovn-central/3"), "run: remove-unit ovn-central/3")
	assert.Contains(t, detail(said, "aa03"), raftAddress(ovndb.NB, 3))
	assert.Contains(t, detail(said, "aa03"), unitName(3))

	// juju remove-machine --force: the unit is gone, its members stay. During the first attempt ovn-controller is stopped,
	// so that the chassis' addresses are gone too.
	a.units, a.down = []int{0, 1, 2}, []int{3}
	c.sbctl("chassis-del", "c1")
	said = s.Decommission(t.Context(), r)
	assert.Equal(t, answer.DisassociateFailure, said.Reason)
	assert.Equal(t, []string{"MEMBER_STAYS aa03", "MEMBER_STAYS bb03"}, found(said))
	assert.Contains(t, detail(said, "aa03"), "run: kick sb-identity="+string(serverID(ovndb.SB, 3))+
		" nb-identity="+string(serverID(ovndb.NB, 3))+" i-really-mean-it=true")
	assert.Equal(t, 409, s.Remove(t.Context(), node.Request{Node: "c1", DryRun: true}).Code, "it holds the node")

	a.members, a.down, a.uncommitted = []int{0, 1, 2}, nil, 3
	said = s.Decommission(t.Context(), r)
	assert.Equal(t, []string{"MEMBER_LEAVES aa03", "MEMBER_LEAVES bb03"}, found(said),
		"they have left, but that is not committed yet")

	a.uncommitted, r.Member = 0, time.Minute
	said = s.Decommission(t.Context(), r)
	require.Equal(t, 200, said.Code, document.Answer(said))
	for _, d := range ovndb.Databases() {
		assert.Contains(t, detail(said, "remove-member"), raftAddress(d, 3))
	}
	assert.Regexp(t, string(answer.Success)+".* 2 of 2$", detail(said, "cluster-ready"))
}

// 002-6: the decommission also waits for healthy clusters at the end; unknown health is not healthy.
func TestDecommission_ends_with_healthy_clusters_only(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	a := &application{units: []int{0, 1, 2}, members: []int{0, 1, 2}}
	s := c.nodeService()
	s.Charm = a.charm
	for healthy, then := range map[string]func(context.Context) []maintenance.DatabaseHealth{
		"0 of 2": (&application{units: []int{0, 1, 2}, members: []int{0, 1, 2}, down: []int{1, 2}}).health,
		"0 of 0": func(context.Context) []maintenance.DatabaseHealth { return nil },
	} {
		late := false
		s.Health = func(ctx context.Context) []maintenance.DatabaseHealth {
			if late {
				return then(ctx)
			}
			return a.health(ctx)
		}
		s.Gateways.Progress = func(_ context.Context, line string) {
			late = late || line == "decommission c1.example: cluster-ready"
		}
		said := s.Decommission(t.Context(), node.Request{Node: "c1", Limits: maintenance.Limits{Timeout: time.Minute}, Clear: time.Minute, Member: time.Minute, Confirmed: true})
		assert.Equal(t, answer.DisassociateFailure, said.Reason)
		assert.Regexp(t, string(answer.ClusterNotAccessible)+".* "+healthy, detail(said, "cluster-ready"))
	}
}

// 002-5: the member that leaves may be the one that the command is connected to.
func TestDecommission_member_that_runs_it_may_leave(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	c.addChassis("c1")
	a := &application{units: []int{0, 1, 2, 3}, members: []int{0, 1, 2, 3}}
	s := c.nodeService()
	t.Cleanup(s.Close)
	s.Charm, s.Health, s.Unit = a.charm, a.health, unitName(0)
	var told []string
	s.Gateways.Progress = func(_ context.Context, line string) {
		if told = append(told, line); len(told) == 1 {
			c.members[c.leader()].Kill(t)
			a.units, a.members = []int{0, 1, 2}, []int{0, 1, 2}
		}
	}
	said := s.RemoveMember(t.Context(), node.Request{Node: "c1", Member: patience})
	require.Equal(t, 200, said.Code, document.Answer(said))
	assert.Contains(t, said.Message, raftAddress(ovndb.NB, 3))
	assert.Contains(t, said.Message, unitName(3))
	require.Len(t, told, 2)
	assert.Contains(t, told[1], lineOf(finding.MachineUnknown, finding.Args{}))
	assert.NotContains(t, told[1], unitName(3), "the look that fails says nothing of what has left")
}
