package status_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
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
	up, three := observetest.Up, observetest.Three(t)
	units := []string{"ovn-central/0", "ovn-central/1", "ovn-central/2", "(was ovn-central/4)"}
	for name, test := range map[string]struct {
		nb, sb observetest.Members
		want   []string
	}{
		"healthy": {three.NB, three.SB, []string{
			"leader follower active yes", "follower leader standby yes", "follower follower ? yes",
		}},
		"server down, stale member": {up("aa00", "aa02").Down("aa01"), up("bb00", "bb01", "bb02").Down("13fe"), []string{
			"leader leader active yes", "down follower standby half", "follower follower ? yes", "- down ? no",
		}},
		"own server down, no leader": {serverless(ovndb.Down, ""), up("bb00").Down("bb01", "bb02").CutOff(), []string{
			"down no leader active no", "? no answer ? ?", "? no answer ? ?",
		}},
		"joining": {three.NB, up("bb00").In(raft.JoiningCluster), []string{
			"leader joining active half", "follower ? standby ?", "follower ? ? ?",
		}},
	} {
		s := observetest.JoinedBy4(t)
		s.NB, s.SB = test.nb, test.sb
		var got []string
		for i, r := range status.Rows(reporting(s, "standby"), ovndb.NorthdActive, plan.NorthdActive) {
			assert.Equal(t, units[i], r.Unit, name)
			assert.Equal(t, fmt.Sprintf("10.0.0.1%d", i), r.Address, name)
			got = append(got, fmt.Sprintf("%s %s %s %s", r.NB, r.SB, r.Northd, r.Up))
		}
		assert.Equal(t, test.want, got, name)
	}
}

// A unit that was active as of its last hook is not shown as active if none is now.
func TestRows_none_active(t *testing.T) {
	t.Parallel()
	var northds []string
	reports := reporting(observetest.Three(t), ovndb.NorthdActive, ovndb.NorthdUnresponsive)
	for _, r := range status.Rows(reports, ovndb.NorthdDown, plan.NorthdNone) {
		northds = append(northds, r.Northd)
	}
	assert.Equal(t, []string{string(ovndb.NorthdDown), "?", "hangs"}, northds)
}

// The line begins like the Python charm's.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	health := func(northd bool) string { return status.Health(s.Report(), northd) }
	assert.Regexp(t, "^leader: ovnnb_db northd: active; 3 of 3 .*, 1 ", health(true))
	s.SB = observetest.Up("bb00", "bb01").Down("bb02")
	assert.Regexp(t, "^leader: ovnnb_db, ovnsb_db; nb 3 of 3 .*, sb 2 of 3 .*, none ", health(false))
	s.NB, s.SB = s.NB.Following("aa01"), observetest.Up("bb00", "bb01", "bb02").Following("bb01")
	assert.Regexp(t, "^northd: active; 3 of 3 .*, 1 ", health(true))
	s.NB = serverless(ovndb.Down, "")
	assert.Empty(t, health(true))
}

// tolerance matches the parts of a line that the test compares: the database, the numbers, and a lost quorum.
var tolerance = regexp.MustCompile(`^\w+|\d+|` + finding.Lookup(finding.NoQuorum).Line)

func TestTolerance(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	full := func(m observetest.Members) observetest.Members { m.Full = true; return m }
	for name, test := range map[string]struct {
		nb   observetest.Members
		want string
	}{
		"three up":            {up("aa00", "aa01", "aa02"), "nb 1 3 3"},
		"one down":            {up("aa00", "aa01").Down("aa02"), "nb 0 3 2"},
		"no quorum":           {up("aa00").Down("aa01", "aa02").CutOff(), "nb " + finding.Lookup(finding.NoQuorum).Line},
		"election":            {up("aa00").Searching("aa01").Down("aa02").CutOff(), "nb"},
		"sole":                {up("aa00"), "nb 0 1 1"},
		"sole, disk full":     {full(up("aa00")), "nb 0 1 0"},
		"one down, disk full": {full(up("aa00", "aa01").Down("aa02")), "nb 0 3 1"},
		"joining":             {observetest.Members{State: raft.JoiningCluster, Role: raft.Follower}, "nb"},
		"not served":          {serverless(ovndb.Down, ""), "nb"},
	} {
		s := observetest.Three(t)
		s.NB = test.nb
		var facts []string
		for _, line := range status.Tolerance(s.Report()) {
			facts = append(facts, strings.Join(tolerance.FindAllString(line, -1), " "))
		}
		assert.Equal(t, []string{test.want, "sb 1 3 3"}, facts, name)
	}
}

// reporting returns a report in which units 1 and 2 have published the state of their ovn-northd.
func reporting(s observetest.Scenario, northds ...ovndb.NorthdHealth) observe.Report {
	r := s.Report()
	r.Application.Peers = map[string]observe.Peer{}
	for i, northd := range northds {
		unit := []string{"ovn-central/1", "ovn-central/2"}[i]
		r.Application.Peers[unit] = observe.Peer{State: relation.UnitState{Hostname: "m", Northd: northd}}
	}
	return r
}

// The report of a unit that is down doesn't count.
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
			s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
			s.SB = observetest.Up("bb00").Down("bb01", "bb02").CutOff()
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
	r.Application.Peers[u1] = observe.Peer{
		State: relation.UnitState{
			Hostname: "m", NorthdHeard: map[string]time.Time{u2: asked.Add(1), r.Application.Unit: asked},
		},
	}
	assert.Equal(t, asked, status.NorthdReports(r)[0].Heard)
}

func TestNorthds(t *testing.T) {
	t.Parallel()
	known := string(ovndb.NorthdActive) + "|" + string(ovndb.NorthdStandby)
	all := status.Northds(ovndb.NorthdStandby, reporting(observetest.Three(t), "active", ""))
	require.Len(t, all, 3)
	assert.Equal(t, "ovn-central/0: standby", all[0])
	assert.Contains(t, all[1], "ovn-central/1: active (")
	assert.Regexp(t, "^ovn-central/2: ", all[2])
	assert.NotRegexp(t, known, all[2])
	s := observetest.Three(t)
	s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb02").Down("bb01")
	down := status.Northds(ovndb.NorthdStandby, reporting(s, "active", "standby"))[1]
	assert.Regexp(t, "^ovn-central/1: ", down)
	assert.NotRegexp(t, known, down)
}

func TestServers(t *testing.T) {
	t.Parallel()
	written := time.Date(2026, 11, 23, 9, 8, 7, 0, time.UTC)
	schema := func(served string, older, newer bool) observe.ServerFacts {
		return observe.ServerFacts{
			Schemas:   ovndb.Schemas{Served: served, Packages: "7.0.0", Older: older, Newer: newer},
			LongPolls: new(ovsctl.LongPolls),
		}
	}
	file := func(size, compacted int64, at time.Time) observe.ServerFacts {
		return observe.ServerFacts{
			Storage: &raftfile.Storage{Size: size, Compacted: compacted, Written: at}, Socket: "/run/nb.ctl",
		}
	}
	silent := func(n int, longest time.Duration) observe.ServerFacts {
		return observe.ServerFacts{LongPolls: &ovsctl.LongPolls{Count: n, Longest: longest}}
	}
	const (
		mib     = 1 << 20
		compact = " -> ssh ovn-central/1 sudo ovs-appctl -t /run/nb.ctl ovsdb-server/compact OVN_Northbound"
		timer   = " -> IF_IT_REPEATS: config ovn-central ovsdb-server-election-timer="
		newer   = "warning SCHEMA_NEWER nb Version=7.1.0 -> ssh ovn-central/1 apt-cache policy ovn-central"
	)
	for title, c := range map[string]struct {
		facts  observe.ServerFacts
		values []string // of the line
		found  string
	}{
		"unknown":       {observe.ServerFacts{}, nil, ""},
		"schema":        {schema("7.0.0", false, false), []string{"schema 7.0.0"}, ""},
		"schema, older": {schema("6.3.0", true, false), []string{"schema 6.3.0", "older", "7.0.0"}, ""},
		"schema, newer": {schema("7.1.0", false, true), []string{"schema 7.1.0", "newer", "7.0.0"}, newer},
		"file":          {file(3*mib, mib, written), []string{"3.0 MiB", "2.0 MiB", "2026-11-23 09:08 UTC"}, ""},
		"file, no time": {file(2048*mib, 1024*mib, time.Time{}), []string{"2.0 GiB", "1.0 GiB"}, ""},
		"file, large": {
			file(80*mib, 20*mib, written), []string{"80.0 MiB"}, "warning FILE_OVERGROWN nb Value=80.0 MiB" + compact,
		},
		"file, small": {file(40<<10, 10<<10, written), []string{"40.0 KiB", "30.0 KiB"}, ""},
		"silent":      {silent(3, 1234*time.Millisecond), []string{"3 times", "1.2s"}, ""},
		"silent, long": {
			silent(1, 4600*time.Millisecond), []string{"4.6s"}, "warning SERVER_SILENT nb Value=4.6s Duration=4s" + timer + "10",
		},
		"silent, too long": {
			silent(1, time.Minute), []string{"1m0s"}, "warning SERVER_SILENT nb Value=1m0s Duration=4s" + timer + "60",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			server := observe.ServerState{
				Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{ElectionTimer: 4 * time.Second},
			}
			lines, all := status.Servers(observe.Report{
				Application: observe.Application{Unit: "ovn-central/1"},
				Clusters: []observe.Cluster{
					{ServerState: server, Facts: &c.facts}, {ServerState: observe.ServerState{Database: ovndb.SB}},
				},
			})
			require.Len(t, lines, min(1, len(c.values)))
			for _, value := range c.values {
				assert.Contains(t, lines[0], value)
			}
			assert.Equal(t, c.found, strings.Join(briefs(all), "\n"))
		})
	}
}

// The lines are ordered by unit, although a server lists its members in the order of a hash table.
func TestClientCounts(t *testing.T) {
	three := 3
	row := func(unit string) observe.Row { return observe.Row{Owner: observe.Owner{Unit: unit}, Clients: &three} }
	rows := []observe.Row{{}, row("ovn-central/10"), row("ovn-central/9")}
	c := observe.Cluster{ServerState: observe.ServerState{Database: ovndb.NB}, Rows: rows}
	lines := status.ClientCounts(observe.Report{Clusters: []observe.Cluster{c}})
	require.Len(t, lines, 1)
	assert.Regexp(t, `^nb: ovn-central/9 .* 3 .*, ovn-central/10 .* 3 .*, UNKNOWN \D+$`, lines[0])
}
