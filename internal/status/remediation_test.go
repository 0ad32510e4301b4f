package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// goal returns Juju's goal state for these units.
func goal(units ...string) map[string]juju.UnitGoal {
	goal := map[string]juju.UnitGoal{}
	for _, unit := range units {
		goal[unit] = juju.UnitGoal{Status: "active"}
	}
	return goal
}

// R4: if several units are removed at once, the leader's leave takes an election timer; meanwhile no text may advise
// to kick a good member.
func TestWays_leader_leaves(t *testing.T) {
	m := observe.Application{
		Unit: "ovn-central/0",
		Goal: map[string]juju.UnitGoal{"ovn-central/0": {Status: "dying"}, "ovn-central/1": {Status: "active"}},
	}
	follower := observe.ServerState{
		Database: ovndb.NB, Condition: ovndb.Serving,
		Status: raft.Status{Role: raft.Follower, Leader: "aa01", State: raft.ClusterMember, Server: "aa00"},
	}
	assert.Equal(t, []finding.Remedy{finding.ByHand(finding.AwaitElection)}, status.WithoutLeader(m, follower))
	alone := follower
	alone.Status.Role, alone.Status.Leader = raft.Candidate, ""
	kick := status.KickCommand("ovn-central/1", map[ovndb.Database]string{ovndb.NB: "aa00"}, raft.PermitUnitInModel)
	ways := status.WithoutLeader(m, alone)
	assert.Contains(t, ways, finding.If(finding.IfCutOff, kick).For("ovn-central/1"))
	unseen := findingtest.Brief(finding.Of(finding.LeaderUnseen, ovndb.NB, finding.Args{}, ways...))
	assert.Contains(t, unseen, "IF_CUT_OFF: ovn-central/1 kick nb-identity=aa00 unit-in-model=true i-really-mean-it=true")
}

// Without a quorum, the command runs on the other unit that is still connected.
func TestRunOn(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.NB = observetest.Up("aa00").Down("aa01")
	s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa02"})
	s.NB = s.NB.Down("aa03", "aa04").CutOff()
	r := s.Report()
	ways := status.WithoutLeader(r.Application, r.Clusters[0].ServerState)
	assert.Equal(t, finding.If(finding.ToAskAnother, status.StatusCommand("ovn-central/2")).For("ovn-central/2"), ways[0])
	assert.Equal(t, finding.IfNoneLeads, ways[2].When)
	assert.Equal(t, "juju run ovn-central/0 recover dry-run=true", r.Application.Version.Render(ways[2].Command))

	r.Application.Peers = map[string]observe.Peer{"ovn-central/1": {State: relation.UnitState{Paused: true}}}
	paused := status.ElsewhereOrLost(r.Application, status.Views{ovndb.NB: r.Clusters[0].View})
	assert.Equal(t, "juju run ovn-central/1 resume", r.Application.Version.Render(paused[0].Command))
}

// A unit that is being removed makes no new cluster: the command runs on a staying unit that is connected, or it
// makes a backup.
func TestRecoveryPlan_not_on_dying_unit(t *testing.T) {
	const stays, goes = "active", "dying"
	const recover0 = "juju run ovn-central/0 recover dry-run=true"
	for name, test := range map[string]struct {
		goal  [3]string
		heard []string
		want  string
	}{
		"stays":               {[3]string{stays, stays}, nil, recover0},
		"other stays, heard":  {[3]string{goes, stays}, []string{"aa01"}, strings.Replace(recover0, "/0", "/1", 1)},
		"other stays, silent": {[3]string{goes, stays}, nil, "juju run ovn-central/0 backup --wait=30m"},
		"one of two stays": {
			[3]string{goes, goes, stays}, []string{"aa01", "aa02"}, strings.Replace(recover0, "/0", "/2", 1),
		},
		"none stays": {[3]string{goes, goes}, []string{"aa01"}, "juju run ovn-central/0 backup --wait=30m"},
	} {
		m := observe.Application{
			Unit: "ovn-central/0", Goal: map[string]juju.UnitGoal{}, Published: relation.UnitIdentities{},
		}
		st := raft.Status{
			Role: raft.Candidate, State: raft.ClusterMember, Server: "aa00", Servers: []raft.Member{{Short: "aa00", Self: true}},
		}
		for i, status := range test.goal {
			if status != "" {
				m.Goal[fmt.Sprintf("ovn-central/%d", i)] = juju.UnitGoal{Status: status}
			}
		}
		for i, short := range []string{"aa01", "aa02"} {
			m.Published[fmt.Sprintf("ovn-central/%d", i+1)] = relation.Identities{ovndb.NB: {Server: raft.ID(short)}}
			st.Servers = append(st.Servers, raft.Member{Short: short})
		}
		for _, short := range test.heard {
			in, out := raft.Connection{Peer: short, Incoming: true, Up: true}, raft.Connection{Peer: short, Up: true}
			st.Connections = append(st.Connections, in, out)
		}
		ways := status.WithoutLeader(m, observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: st})
		assert.Equal(t, finding.IfNoneLeads, ways[2].When, name)
		assert.Equal(t, test.want, m.Version.Render(ways[2].Command), name)
	}
}

// If the machine of a unit is on, the remedy is the one for the cause. Otherwise the unit may be lost.
func TestWhileDown(t *testing.T) {
	t.Parallel()
	const (
		unit     = "ovn-central/1"
		awaits   = " -> BEFORE_ITS_NEXT_HOOK: ovn-central/1 resume"
		space    = " -> IF_DISK_FULL: " + string(finding.MakeSpaceThere)
		restarts = " -> IF_THIS_LASTS: ovn-central/1 restart-services services=ovn-ovsdb-server-nb"
		rejoins  = " -> ovn-central/1 rejoin i-really-mean-it=true"
		spaceOn  = " -> " + string(finding.MakeSpaceOn)
		ifLost   = " -> IF_LOST: remove-unit --force ovn-central/1 add-unit ovn-central " + string(finding.KickLeftovers)
		mayBe    = starts + ifLost
	)
	none, full := relation.UnitState{}, relation.UnitState{DiskFull: true}
	damaged := relation.UnitState{Unusable: map[ovndb.Database]bool{ovndb.NB: true}}
	silent := time.Hour
	gone := func(v *raft.View) { // its server ended
		v.Status.Servers[1].LastMsg = &silent
		v.Status.Connections = v.Status.Connections[2:]
		v.Probes = nil
	}
	hangs := func(v *raft.View) { v.Status.Servers[1].LastMsg, v.Probes = &silent, nil }
	lost := func(v *raft.View) { v.Lost = []raft.ID{v.Names[1]} }
	lags := func(v *raft.View) {
		match := v.Status.Committed() - 1
		v.Status.Servers[1].Match = &match
	}
	noted := func(v *raft.View) { v.Down = []raft.ID{v.Names[1]} }
	for name, test := range map[string]struct {
		state  relation.UnitState
		nb, sb []func(*raft.View)
		want   string
	}{
		"paused":                      {relation.UnitState{Paused: true}, []func(*raft.View){gone}, []func(*raft.View){gone}, " -> ovn-central/1 resume"},
		"machine off":                 {none, []func(*raft.View){gone}, []func(*raft.View){gone}, mayBe},
		"one server ended":            {none, []func(*raft.View){gone}, nil, restarts},
		"one server hangs":            {none, []func(*raft.View){hangs}, nil, restarts},
		"both hang":                   {none, []func(*raft.View){hangs}, []func(*raft.View){hangs}, mayBe},
		"lost entries, one ended":     {none, []func(*raft.View){gone, lost}, []func(*raft.View){lost}, space + awaits},
		"lost entries, one hangs":     {none, []func(*raft.View){hangs, lost}, nil, space + awaits},
		"lost entries, both ended":    {none, []func(*raft.View){gone, lost}, []func(*raft.View){gone, lost}, space + mayBe},
		"stores nothing, other ended": {none, []func(*raft.View){lags}, []func(*raft.View){gone}, space + awaits},
		"about to restart":            {none, []func(*raft.View){noted}, nil, awaits},
		"full, both gave up":          {full, []func(*raft.View){hangs}, []func(*raft.View){hangs}, spaceOn + ifLost},
		"file unusable, both ended":   {damaged, []func(*raft.View){gone}, []func(*raft.View){gone}, rejoins + ifLost},
		"file unusable, one ended":    {damaged, []func(*raft.View){gone}, nil, rejoins},
		"full, one gave up":           {full, []func(*raft.View){hangs}, nil, spaceOn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.Three(t)
			s.SB = observetest.Up("bb00", "bb01", "bb02")
			m := s.Application()
			m.Peers = map[string]observe.Peer{unit: {State: test.state}}
			views := status.Views{ovndb.NB: s.View(ovndb.NB, s.NB), ovndb.SB: s.View(ovndb.SB, s.SB)}
			for d, changes := range map[ovndb.Database][]func(*raft.View){ovndb.NB: test.nb, ovndb.SB: test.sb} {
				v := views[d]
				for _, change := range changes {
					change(&v)
				}
				views[d] = v
			}
			assert.Equal(t, "info  "+unit+test.want, findingtest.Brief(finding.Finding{
				Subject: finding.Subject{Name: unit}, Remedies: status.WhileDown(m, views, unit),
			}))
		})
	}
}

// F7, P2: a member that is up, and whose unit is in the model, must not be kicked: that unit has recorded that it
// restarts the member, or that its file lacks entries, and ends that by itself.
func TestWhileDown_noted(t *testing.T) {
	t.Parallel()
	const space = " -> IF_DISK_FULL: " + string(finding.MakeSpaceThere) + " {unit=ovn-central/1}"
	for name, test := range map[string]struct {
		counts func(*raft.View, raft.ID)
		first  string
	}{
		"its unit is about to restart it": {func(v *raft.View, id raft.ID) { v.Down = []raft.ID{id} }, ""},
		"its file lacks entries":          {func(v *raft.View, id raft.ID) { v.Lost = []raft.ID{id} }, space},
	} {
		s := observetest.Three(t)
		s.Goal["ovn-central/2"] = "dying"
		r := s.Report()
		for i := range r.Clusters {
			test.counts(&r.Clusters[i].View, r.Application.Published["ovn-central/1"][r.Clusters[i].Database].Server)
		}
		view := r.Clusters[0].View
		plan := raft.PlanRestart(raft.Change{Database: ovndb.NB, View: view})
		require.NotNil(t, plan.Refusal, name)
		const waits = " -> BEFORE_ITS_NEXT_HOOK: ovn-central/1 resume"
		assert.Contains(t, briefs(findingsOf(r)),
			"warning LEAVE_BLOCKED ovn-central/2"+test.first+waits+" {unit=ovn-central/1}", name)

		// If the unit is gone, no hook ends it. The command is accepted as printed.
		delete(r.Application.Goal, "ovn-central/1")
		r.Application.History = r.Application.History.Publish(r.Application.Published)
		delete(r.Application.Published, "ovn-central/1")
		ways := status.Ways(r.Application, []raft.Plan{plan}, status.Views{ovndb.NB: view})
		require.Len(t, ways, 1, name)
		assert.Regexp(t, "^juju run ovn-central/[02] kick .*force=true", r.Application.Version.Render(ways[0].Command), name)
	}
}

// A unit whose server can't be started any more is repaired by one action on itself, as long as it knows which member
// the server was.
func TestRejoinCommand(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	m := s.Report().Application
	line := func(servers map[ovndb.Database]observe.ServerState) string {
		return m.Version.Render(status.RejoinCommand(m, servers, ovndb.NB))
	}
	assert.Equal(t, "juju run "+m.Unit+" rejoin database=nb i-really-mean-it=true", line(nil))

	m.Published[m.Unit][ovndb.NB] = relation.Identity{Server: "aa01"}
	assert.Equal(
		t, "juju run "+m.Others()[0]+" kick nb-identity=aa01 unit-in-model=true i-really-mean-it=true", line(nil),
		"it does not know which member",
	)

	running := map[ovndb.Database]observe.ServerState{ovndb.NB: {Database: ovndb.NB, Condition: ovndb.Serving}}
	assert.Contains(t, line(running), " force=true", "a server that runs")

	m.Goal = goal(m.Unit)
	assert.Empty(t, line(nil), "no other unit could remove it")
}

func TestOKToStop(t *testing.T) {
	t.Parallel()
	oneDown := func(s *observetest.Scenario) {
		s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa02"), observetest.Up("bb00", "bb01").Down("bb02")
	}
	lacks := func(server string) func(*observetest.Scenario) {
		return func(s *observetest.Scenario) { s.NB.Lost = []string{server} }
	}
	for name, c := range map[string]struct {
		change          func(*observetest.Scenario)
		unit            string
		stop, remove    bool
		remedies, lines int
	}{
		"all are up":          {func(*observetest.Scenario) {}, "ovn-central/1", true, true, 0, 2},
		"this unit":           {func(*observetest.Scenario) {}, "ovn-central/0", true, true, 0, 2},
		"another one is down": {oneDown, "ovn-central/1", false, false, 2, 0},
		"it is the one down":  {oneDown, "ovn-central/2", true, false, 0, 2},
		"one of its servers is down": {
			func(s *observetest.Scenario) { s.SB = observetest.Up("bb00", "bb01").Down("bb02") }, "ovn-central/2", true, false,
			0, 2,
		},
		"its file lacks entries": {lacks("aa02"), "ovn-central/2", false, true, 2, 2},
		"this one's does":        {lacks("aa00"), "ovn-central/0", false, true, 1, 2},
		"one database differs": {
			func(s *observetest.Scenario) { s.SB = observetest.Up("bb00", "bb01").Down("bb02") }, "ovn-central/1", false, false,
			1, 1,
		},
		"of two": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa01"), observetest.Up("bb00", "bb01")
		}, "ovn-central/1", false, true, 1, 0},
		"this unit is cut off": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa01", "aa02").CutOff(), observetest.Up("bb00", "bb01", "bb02").CutOff()
		}, "ovn-central/1", false, false, 1, 0},
		"no quorum": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02"), observetest.Up("bb00").Down("bb01", "bb02")
		}, "ovn-central/1", false, false, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.JoinedBy4(t)
			c.change(&s)
			stop, err := status.OKToStop(s.Report(), c.unit)
			require.NoError(t, err)
			remove, err := status.OKToRemove(s.Report(), c.unit)
			require.NoError(t, err)
			assert.Equal(t, c.stop, stop.Against == nil)
			assert.Equal(t, c.remove, remove.Against == nil)
			assert.Len(t, stop.Lines, c.lines)
			if !c.stop {
				assert.Equal(t, finding.StopUnsafe, stop.Against.Code)
				assert.Len(t, stop.Against.Remedies, c.remedies)
			}
			if !c.remove {
				assert.Equal(t, finding.RemovalUnsafe, remove.Against.Code)
			}
			if c.stop && !c.remove { // a member that is down can't leave
				assert.Equal(t, finding.MemberDown, remove.Against.Causes[0].Code)
			}
			if name == "it is the one down" {
				assert.Equal(t, "error REMOVAL_UNSAFE ovn-central/2 -> "+string(finding.StartMachine)+" {unit=ovn-central/2}"+
					" -> IF_LOST: remove-unit --force ovn-central/2 add-unit ovn-central "+string(finding.KickLeftovers)+" {unit=ovn-central/2}", briefs(
					[]finding.Finding{*remove.Against})[0])
			}
		})
	}
	full := observetest.JoinedBy4(t)
	lacks("aa02")(&full)
	report := full.Report()
	report.Application.Peers = map[string]observe.Peer{"ovn-central/2": {State: relation.UnitState{DiskFull: true}}}
	stop, err := status.OKToStop(report, "ovn-central/2")
	require.NoError(t, err)
	assert.Equal(t, []finding.Remedy{finding.ByHand(finding.MakeSpaceOn).For("ovn-central/2")}, stop.Against.Remedies)

	two := observetest.JoinedBy4(t)
	two.NB, two.SB = observetest.Up("aa00", "aa01"), observetest.Up("bb00", "bb01")
	few := two.Report()
	few.Application.Peers = map[string]observe.Peer{"ovn-central/2": {State: relation.UnitState{Paused: true}}}
	stop, err = status.OKToStop(few, "ovn-central/1")
	require.NoError(t, err)
	assert.Equal(t, []finding.Remedy{finding.Do(command.RunHook("ovn-central/2"))}, stop.Against.Remedies)

	_, err = status.OKToStop(report, "ovn-central/9")
	units := append(report.Application.Others(), report.Application.Unit)
	slices.SortFunc(units, unitname.Compare)
	assert.ErrorContains(t, err, strings.Join(units, ", "))
}

// The majority works, but the leader that this server hears does not answer: the finding names the leader.
func TestClusters_leader_does_not_answer(t *testing.T) {
	t.Parallel()
	s := observetest.JoinedBy4(t)
	s.NB = observetest.Up("aa00", "aa01").Closed("aa02").Following("aa02")
	all := slices.DeleteFunc(status.Clusters(s.Report()), func(f finding.Finding) bool {
		return f.Code != finding.LeaderUnseen && f.Code != finding.MajorityUnseen
	})
	require.Len(t, all, 1)
	assert.Equal(t, finding.LeaderUnseen, all[0].Code)
	assert.Equal(t, finding.Waiting, all[0].Severity)
	assert.Contains(t, all[0].Args.Member.ID, "aa02")
}
