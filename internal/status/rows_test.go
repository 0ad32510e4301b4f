package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestRows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*scenario)
		want   []string
	}{
		"all is well": {func(*scenario) {}, []string{
			"ovn-central/0 10.0.0.10 leader follower active yes", "ovn-central/1 10.0.0.11 follower leader standby yes", "ovn-central/2 10.0.0.12 follower follower ? yes",
		}},
		"a server is down, and a stale member": {func(s *scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb01", "bb02").Down("13fe")
		}, []string{
			"ovn-central/0 10.0.0.10 leader leader active yes", "ovn-central/1 10.0.0.11 down follower standby half", "ovn-central/2 10.0.0.12 follower follower ? yes",
			"(was ovn-central/4) 10.0.0.13 - down ? no",
		}},
		"a server is down here, the other one hears no leader": {func(s *scenario) {
			s.NB, s.SB = serverless(ovndb.Down, ""), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
		}, []string{
			"ovn-central/0 10.0.0.10 down no leader active no", "ovn-central/1 10.0.0.11 ? no answer ? ?", "ovn-central/2 10.0.0.12 ? no answer ? ?",
		}},
		"joining": {func(s *scenario) { s.SB = observetest.Up("bb00").In(raft.JoiningCluster) }, []string{
			"ovn-central/0 10.0.0.10 leader joining active half", "ovn-central/1 10.0.0.11 follower ? standby ?", "ovn-central/2 10.0.0.12 follower ? ? ?",
		}},
	} {
		s := observetest.JoinedBy4(t)
		test.change(&s)
		var got []string
		for _, r := range status.Rows(reporting(s, "standby"), ovndb.NorthdActive) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s %s", r.Unit, r.Address, r.NB, r.SB, r.Northd, r.Up))
		}
		assert.Equal(t, test.want, got, name)
	}
}

// Its beginning is the Python charm's.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	health := func(northd bool) string { return status.Health(s.Report(), northd) }
	assert.Equal(t, "leader: ovnnb_db northd: active; 3 of 3 up, 1 may fail", health(true))
	s.SB = observetest.Up("bb00", "bb01").Down("bb02")
	assert.Equal(t, "leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail", health(false))
	s.NB, s.SB = s.NB.Following("aa01"), observetest.Up("bb00", "bb01", "bb02").Following("bb01")
	assert.Equal(t, "northd: active; 3 of 3 up, 1 may fail", health(true))
	s.NB = serverless(ovndb.Down, "")
	assert.Empty(t, health(true))
}

func TestFaultTolerance(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	full := func(m observetest.Members) observetest.Members { m.Full = true; return m }
	for name, test := range map[string]struct {
		nb   observetest.Members
		want string
	}{
		"three up":                               {up("aa00", "aa01", "aa02"), "nb: 1 more of 3 members may fail (3 up)"},
		"one down":                               {up("aa00", "aa01").Down("aa02"), "nb: 0 more of 3 members may fail (2 up)"},
		"no quorum":                              {up("aa00").Down("aa01", "aa02").CutOff(), "nb: no quorum"},
		"an election":                            {up("aa00").Searching("aa01").Down("aa02").CutOff(), "nb: not known"},
		"sole":                                   {up("aa00"), "nb: 0 more of 1 members may fail (1 up)"},
		"sole, and its disk is full":             {full(up("aa00")), "nb: 0 more of 1 members may fail (0 up)"},
		"one down, and this unit's disk is full": {full(up("aa00", "aa01").Down("aa02")), "nb: 0 more of 3 members may fail (1 up)"},
		"joining":                                {observetest.Members{State: raft.JoiningCluster, Role: raft.Follower}, "nb: not known"},
		"one not here":                           {serverless(ovndb.Down, ""), "nb: not known"},
	} {
		s := observetest.Three(t)
		s.NB = test.nb
		assert.Equal(t, []string{test.want, "sb: 1 more of 3 members may fail (3 up)"}, status.Tolerance(s.Report()), name)
	}
}

// reporting is three units, of which 1 and 2 have published how their ovn-northd are.
func reporting(s observetest.Scenario, northds ...string) observe.Report {
	r := s.Report()
	r.Application.Peers = map[string]observe.Peer{}
	for i, northd := range northds {
		unit := []string{"ovn-central/1", "ovn-central/2"}[i]
		r.Application.Peers[unit] = observe.Peer{State: relation.UnitState{Hostname: "m", Northd: northd}}
	}
	return r
}

// What a unit said before it went silent doesn't count.
func TestNorthdReports(t *testing.T) {
	t.Parallel()
	known := func(unit string, h ovndb.NorthdHealth) plan.NorthdReport {
		return plan.NorthdReport{Unit: unit, Known: true, Health: h, Up: h != ""}
	}
	unknown := func(unit string) plan.NorthdReport { return plan.NorthdReport{Unit: unit} }
	const u1, u2 = "ovn-central/1", "ovn-central/2"
	for name, c := range map[string]struct {
		change func(*observetest.Scenario)
		want   []plan.NorthdReport
	}{
		"all are up": {func(*observetest.Scenario) {}, []plan.NorthdReport{known(u1, "active"), known(u2, "standby")}},
		"the active one's unit is down": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb02").Down("bb01")
		}, []plan.NorthdReport{known(u1, ""), known(u2, "standby")}},
		"one of its servers is down": {func(s *observetest.Scenario) {
			s.NB = observetest.Up("aa00", "aa02").Down("aa01")
		}, []plan.NorthdReport{known(u1, "active"), known(u2, "standby")}},
		"no quorum": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02").CutOff(), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
		}, []plan.NorthdReport{known(u1, ""), known(u2, "")}},
		"no server here": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Down}
		}, []plan.NorthdReport{unknown(u1), unknown(u2)}},
	} {
		s := observetest.Three(t)
		c.change(&s)
		assert.Equal(t, c.want, status.NorthdReports(reporting(s, "active", "standby")), name)
	}
	r := reporting(observetest.Three(t), "active")
	r.Application.Peers["ovn-central/1"] = observe.Peer{}
	up := func(unit string) plan.NorthdReport { return plan.NorthdReport{Unit: unit, Up: true} }
	assert.Equal(t, []plan.NorthdReport{up(u1), up(u2)}, status.NorthdReports(r), "of a charm that reports none")

	asked := time.Unix(1764000000, 0)
	r.Application.Peers[u1] = observe.Peer{State: relation.UnitState{Hostname: "m", NorthdHeard: map[string]time.Time{u2: asked.Add(1), r.Application.Unit: asked}}}
	assert.Equal(t, asked, status.NorthdReports(r)[0].Heard)
}

func TestNorthds(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{
		"ovn-central/0: standby", "ovn-central/1: active (as of its last hook)", "ovn-central/2: not reported as working (as of its last hook)",
	}, status.Northds(ovndb.NorthdStandby, reporting(observetest.Three(t), "active", "")))
	s := observetest.Three(t)
	s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb02").Down("bb01")
	assert.Equal(t, "ovn-central/1: not known (its members are down)", status.Northds(ovndb.NorthdStandby, reporting(s, "active", "standby"))[1])
}

func TestServersAreReportedWithWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	same := &ovsctl.Schemas{Served: "7.0.0", Packages: "7.0.0"}
	written := time.Date(2026, 11, 23, 9, 8, 7, 0, time.UTC)
	for title, c := range map[string]struct {
		facts       observe.ServerFacts
		line, found string
	}{
		"as it should be": {
			observe.ServerFacts{Schemas: same, Storage: &raftfile.Storage{Size: 3 << 20, Compacted: 1 << 20, Written: written}, LongPolls: new(ovsctl.LongPolls)},
			"nb: schema 7.0.0, the packages'; file 3.0 MiB, grown by 2.0 MiB since it was compacted at 2026-11-23 09:08 UTC", "",
		},
		"nothing known":              {observe.ServerFacts{}, "", ""},
		"no time in the file system": {observe.ServerFacts{Storage: &raftfile.Storage{Size: 2 << 30, Compacted: 1 << 30}}, "nb: file 2.0 GiB, grown by 1.0 GiB since it was compacted", ""},
		"older schema": {
			observe.ServerFacts{Schemas: &ovsctl.Schemas{Served: "6.3.0", Packages: "7.0.0", Older: true}},
			"nb: schema 6.3.0, older than the packages' 7.0.0", "",
		},
		"newer schema": {
			observe.ServerFacts{Schemas: &ovsctl.Schemas{Served: "7.1.0", Packages: "7.0.0", Newer: true}},
			"nb: schema 7.1.0, newer than the packages' 7.0.0",
			"warning SCHEMA_NEWER nb Version=7.1.0 -> ssh ovn-central/1 apt-cache policy ovn-central",
		},
		"large, and four times what it was": {
			observe.ServerFacts{Storage: &raftfile.Storage{Size: 80 << 20, Compacted: 20 << 20}, Socket: "/run/nb.ctl"},
			"nb: file 80.0 MiB, grown by 60.0 MiB since it was compacted",
			"warning FILE_OVERGROWN nb Value=80.0 MiB -> ssh ovn-central/1 sudo ovs-appctl -t /run/nb.ctl ovsdb-server/compact OVN_Northbound",
		},
		"small, and four times what it was": {observe.ServerFacts{Storage: &raftfile.Storage{Size: 40 << 10, Compacted: 10 << 10}}, "nb: file 40.0 KiB, grown by 30.0 KiB since it was compacted", ""},
		"silent, and the leader stays": {
			observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: 3, Longest: 1234 * time.Millisecond}},
			"nb: silent 3 times for a second or more in the last hour, at most for 1.2s", "",
		},
		"silent for longer than the election timer": {
			observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: 1, Longest: 4600 * time.Millisecond}},
			"nb: silent 1 times for a second or more in the last hour, at most for 4.6s",
			"warning SERVER_SILENT nb Value=4.6s Duration=4s -> IF_IT_REPEATS: config ovn-central ovsdb-server-election-timer=10",
		},
		"silent for longer than any election timer": {
			observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: 1, Longest: time.Minute}},
			"nb: silent 1 times for a second or more in the last hour, at most for 1m0s",
			"warning SERVER_SILENT nb Value=1m0s Duration=4s -> IF_IT_REPEATS: config ovn-central ovsdb-server-election-timer=60",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			server := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{ElectionTimer: 4 * time.Second}}
			lines, all := status.Servers(observe.Report{
				Application: observe.Application{Unit: "ovn-central/1"},
				Clusters:    []observe.Cluster{{ServerState: server, Facts: &c.facts}, {ServerState: observe.ServerState{Database: ovndb.SB}}},
			})
			assert.Equal(t, c.line, strings.Join(lines, "\n"))
			assert.Equal(t, c.found, strings.Join(briefs(all), "\n"))
		})
	}
}
