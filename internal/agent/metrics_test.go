package agent

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// exports requires that the metrics have these lines, and returns all of them.
func exports(t *testing.T, a *Agent, lines ...string) string {
	t.Helper()
	text := "\n" + get(t, a, "/metrics").Body.String()
	for _, line := range lines {
		assert.Contains(t, text, "\n"+line+"\n")
	}
	return text
}

func TestMetrics_match_status(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.setDatabase(ovndb.SB, ovsdb.ErrNoLeader)
	reads(a, lease.Record{Holder: "u/1", Address: "127.0.0.2:16402", Term: 4, TTLSeconds: 4})
	*now += a.config.TTL / 4
	c := a.live()
	c.Backups, c.BackupInterval = t.TempDir(), 6*time.Hour
	require.NoError(t, os.Mkdir(filepath.Join(c.Backups, "20260101T000000Z"), 0o700))
	a.current.Store(&c)
	text := exports(t, a,
		`ovn_central_lease_holder{unit="u/1"} 1`, "ovn_central_lease_acts 0", "ovn_central_lease_term 4",
		"ovn_central_lease_held_seconds 1",
		"# TYPE ovn_central_lease_changes_total counter", `ovn_central_agent_database_usable{database="nb"} 1`,
		`ovn_central_agent_database_usable{database="sb"} 0`, "ovn_central_agent_last_look_seconds 1",
		"ovn_central_backup_interval_seconds 21600", "ovn_central_backup_newest_timestamp_seconds 1.7672256e+09",
		"ovn_central_backup_failed 0",
	)
	assert.Contains(t, text, "\novn_central_build_info{version=")
	assert.NotContains(t, text, "libovsdb", "no metrics of libraries")
	*now += a.config.TTL
	assert.NotContains(t, exports(t, a), "ovn_central_lease_holder{", "the holder is unknown")
}

// Old values of a source that is now silent would look current.
func TestMetrics_leave_out_what_is_old(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.clusters.last.Store(&clusterObservation{report: staleReport(), northd: ovndb.NorthdActive, at: *now})
	a.gateways.recordObservation(&gateway.Inventory{State: schedule.State{Chassis: []schedule.Chassis{{Name: "c1"}}}},
		schedule.Plan{}, false, *now)
	a.peers.all["10.0.0.6:16402"] = &peer{unit: "u/1", answered: *now}
	clusters := []string{
		"ovn_central_server_up{", "ovn_central_members{", "ovn_central_raft_term{",
		"ovn_central_northd_active ",
	}
	gateways := []string{
		"ovn_central_gateways ", "ovn_central_chassis{", "ovn_central_nb_cfg{", "ovn_central_drains{",
		"ovn_central_northd_behind_seconds ",
	}
	clock := []string{"ovn_central_agent_peer_clock_ahead_seconds{"}
	has := func(want bool, names []string) {
		t.Helper()
		text := exports(t, a)
		for _, name := range names {
			assert.Equal(t, want, strings.Contains(text, "\n"+name), name)
		}
	}
	has(true, slices.Concat(clusters, gateways, clock))
	text := exports(t, a, `ovn_central_server_up{database="sb"} 0`)
	assert.NotContains(t, text, `ovn_central_members{database="sb"}`)

	a.peers.all["10.0.0.6:16402"].err = errors.New("no answer")
	has(false, clock)
	a.gateways.recordFailure(errors.New("the connection is lost"))
	has(false, gateways)
	a.gateways.recordObservation(&gateway.Inventory{}, schedule.Plan{}, false, *now)
	has(true, gateways)
	a.setDatabase(ovndb.SB, ovsdb.ErrNoLeader)
	has(false, gateways)
	*now += 2 * (clusterPause + clusterTimeout)
	has(true, clusters)
	*now++
	has(false, clusters)
}

func TestNorthdBehind(t *testing.T) {
	t.Parallel()
	var p progress
	for _, step := range []struct {
		asked, done int64
		at, behind  time.Duration
	}{
		{3, 3, 10, 0},
		{4, 3, 20, 0},
		{4, 3, 25, 5},
		{5, 3, 30, 10},
		{6, 4, 40, 0},
		{6, 4, 50, 10},
		{6, 6, 60, 0},
		{7, 6, 70, 0},
	} {
		p = p.update(step.asked, step.done, step.at)
		assert.Equal(t, step.behind, p.behind(step.at), step)
	}
}

// ledReport is [staleReport] as the leader sees it.
func ledReport() observe.Report {
	id, match, clients := raft.ID("c1"), uint64(90), 7
	seen := staleReport()
	c := &seen.Clusters[0]
	c.Status = raft.Status{
		Server: "aa04", Cluster: id, Role: raft.Leader, Leader: raft.Self, State: raft.ClusterMember,
		Term: 9, ElectionTimer: 4 * time.Second, Log: raft.Log{Start: 2, End: 101}, NotCommitted: 1,
	}
	c.Rows[0].Self, c.Rows[0].Clients, c.Rows[1].Match = true, &clients, &match
	return seen
}

func TestMetrics_of_clusters(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.clusters.last.Store(&clusterObservation{report: ledReport(), northd: ovndb.NorthdStandby, at: *now})
	exports(t, a,
		`ovn_central_server_up{database="nb"} 1`, `ovn_central_member_role{database="nb",role="leader"} 1`,
		`ovn_central_member_role{database="nb",role="follower"} 0`,
		`ovn_central_member_has_leader{database="nb"} 1`, `ovn_central_raft_term{database="nb"} 9`,
		`ovn_central_raft_election_timer_seconds{database="nb"} 4`,
		`ovn_central_raft_uncommitted_entries{database="nb"} 1`,
		`ovn_central_raft_behind_entries{database="nb",member="13fe",unit=""} 10`,
		`ovn_central_server_clients{database="nb"} 7`, `ovn_central_member_info{cluster="c1",database="nb",server="aa04"} 1`,
		"ovn_central_northd_works 1", "ovn_central_northd_active 0",
	)
}

// Reasons in words name chassis, which would make an unlimited number of series.
func TestMetrics_series_are_bounded(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	group := schedule.Group{
		Name: "g", Storage: schedule.GatewayChassis,
		Ports: []schedule.Port{{Name: "g", Network: "net"}},
	}
	assert.NotContains(t, exports(t, a), "ovn_central_candidates_changed_total{", "nothing was seen yet")
	a.gateways.recordObservation(&gateway.Inventory{State: schedule.State{Groups: []schedule.Group{group}}},
		schedule.Plan{}, false, *now)
	series := func() int {
		text := exports(t, a)
		return strings.Count(text, "ovn_central_candidates_changed_total{") +
			strings.Count(text, "ovn_central_gateways_by_finding{")
	}
	before, priority := series(), 1
	for i := range 50 {
		one := fmt.Sprintf("c%d", i)
		a.gateways.recordOutcome([]schedule.Change{{
			Group: "g", Before: []schedule.Candidate{{Chassis: "c"}},
			Rows: []schedule.Row{{Chassis: one, After: &priority, Reason: one + " came"}},
		}}, nil)
	}
	assert.Equal(t, before, series())
	exports(t, a, `ovn_central_candidates_changed_total{reason="incomplete"} 50`,
		`ovn_central_candidates_changed_total{reason="rank"} 0`,
		`ovn_central_gateways_by_finding{finding="GATEWAY_UNBOUND"} 1`,
		`ovn_central_gateways_by_finding{finding="GATEWAY_MISPLACED"} 0`)
}

// The agent looks more often than a hook, so what the hook has stored of an outage does not count.
func TestMetrics_outage_is_error(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.paths = ovndb.Paths{Run: t.TempDir()}
	hook := finding.New(finding.NoChassisResponds, finding.Subject{}, finding.Args{}).As(finding.Warning)
	require.NoError(t, present.Save(a.paths.Findings(), present.Documents(juju.Version{}, []finding.Finding{hook})))
	silent := schedule.State{
		Chassis: []schedule.Chassis{{Name: "c1", Unresponsive: true}},
		Groups: []schedule.Group{{
			Name: "g", Ports: []schedule.Port{{Name: "g", Network: "net", Active: "c1"}},
			Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 1}},
		}},
	}
	a.gateways.recordObservation(&gateway.Inventory{State: silent}, schedule.Plan{}, false, *now)
	text := exports(t, a, `ovn_central_finding{code="NO_CHASSIS_RESPONDS",severity="error",subject=""} 1`,
		`ovn_central_gateways_by_finding{finding="NO_CHASSIS_RESPONDS"} 1`)
	assert.NotContains(t, text, `code="NO_CHASSIS_RESPONDS",severity="warning"`)
	*now += time.Hour
	s := a.gateways.status(*now)
	assert.Equal(t, finding.NoChassisResponds, s.Outage.Code)
	assert.InDelta(t, time.Hour.Seconds(), s.OutageSeconds, 0)

	silent.Chassis[0].Unresponsive = false
	a.gateways.recordObservation(&gateway.Inventory{State: silent}, schedule.Plan{}, false, *now)
	assert.NotContains(t, exports(t, a), `code="NO_CHASSIS_RESPONDS"`)
	assert.Zero(t, a.gateways.status(*now).OutageSeconds)
}

// What the agent sees itself replaces what the last hook has found of it, and nothing else. What it can't see stays.
func TestMetrics_hook_findings_count_unless_agent_sees_clusters(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.paths = ovndb.Paths{Run: t.TempDir()}
	var hook []finding.Finding
	for _, code := range []finding.Code{finding.NoQuorum, finding.Paused, finding.NoChassisResponds} {
		hook = append(hook, finding.New(code, finding.Subject{}, finding.Args{}))
	}
	require.NoError(t, present.Save(a.paths.Findings(), present.Documents(juju.Version{}, hook)))
	exports(t, a, `ovn_central_finding{code="NO_QUORUM",severity="error",subject=""} 1`,
		`ovn_central_finding{code="NO_CHASSIS_RESPONDS",severity="error",subject=""} 1`)
	a.clusters.last.Store(&clusterObservation{report: staleReport(), at: *now})
	a.gateways.recordObservation(&gateway.Inventory{}, schedule.Plan{}, false, *now)
	a.setDatabase(ovndb.SB, ovsdb.ErrNoLeader)
	text := exports(t, a, `ovn_central_finding{code="PAUSED",severity="warning",subject=""} 1`,
		`ovn_central_finding{code="NO_CHASSIS_RESPONDS",severity="error",subject=""} 1`)
	assert.NotContains(t, text, "NO_QUORUM")
}

func TestServerMetrics_present_if_files_exist(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	a.paths = ovndb.Paths{DB: t.TempDir(), Logs: t.TempDir()}
	assert.NotContains(t, exports(t, a), "ovn_central_database_file")
	record := "OVSDB CLUSTER 2 0123456789012345678901234567890123456789\n{}"
	require.NoError(t, os.WriteFile(a.paths.File(ovndb.SB), []byte(record+record), 0o600))
	require.NoError(t, os.WriteFile(a.paths.Log(ovndb.SB), []byte(time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+
		"|00017|timeval|WARN|Unreasonably long 4321ms poll interval (1ms user, 2ms system)\n"), 0o600))
	text := exports(t, a,
		`ovn_central_database_file_bytes{database="sb"} 118`, `ovn_central_database_file_grown_bytes{database="sb"} 59`,
		`ovn_central_server_long_polls{database="sb"} 1`, `ovn_central_server_longest_poll_seconds{database="sb"} 4.321`,
	)
	assert.NotContains(t, text, `ovn_central_database_file_bytes{database="nb"}`)
}

// Prometheus' own linter accepts all names, units and HELP texts, and the reference lists each metric.
func TestMetrics_lint_and_reference(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.gateways.drains.report.Store(&[]report.Drain{{Chassis: "c1", Gateways: 3}})
	acts(a)
	a.peers.all["10.0.0.6:16402"] = &peer{unit: "u/1", answered: *now}
	a.clusters.last.Store(&clusterObservation{report: ledReport(), northd: ovndb.NorthdActive, at: *now})
	a.gateways.recordObservation(&gateway.Inventory{State: schedule.State{Chassis: []schedule.Chassis{{Name: "c1"}}}},
		schedule.Plan{}, false, *now)
	c := a.live()
	c.Backups, c.BackupInterval = t.TempDir(), time.Hour
	require.NoError(t, os.Mkdir(filepath.Join(c.Backups, "20260101T000000Z"), 0o700))
	c.CA = filepath.Join(t.TempDir(), "ca")
	require.NoError(t, os.WriteFile(c.CA, []byte(vault.New("ca").PEM()), 0o600))
	a.current.Store(&c)
	a.paths = ovndb.Paths{DB: t.TempDir(), Logs: t.TempDir(), Run: t.TempDir()}
	one := present.Document{Code: string(finding.NotPublished), Severity: "info", Message: "u/3"}
	other := one
	other.Message = "u/4"
	require.NoError(t, present.Save(a.paths.Findings(), []present.Document{one, other}), "they differ by no label")
	require.NoError(t,
		os.WriteFile(a.paths.File(ovndb.SB), []byte("OVSDB CLUSTER 2 0123456789012345678901234567890123456789\n{}"), 0o600))
	require.NoError(t, os.WriteFile(a.paths.Log(ovndb.SB), nil, 0o600))
	text := exports(t, a)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)

	reference, err := os.ReadFile("../../docs/reference/monitoring.md")
	require.NoError(t, err)
	call, named := regexp.MustCompile(`\b(gauge|counter)\(`),
		regexp.MustCompile(`\b(?:gauge|counter)\(\s*"(ovn_central_[a-z_]+)",\s+(?:"[^"]+"\s*\+\s*)*"[^"]+\.",\s`)
	source, err := os.ReadFile("metrics.go")
	require.NoError(t, err)
	all := named.FindAllStringSubmatch(string(source), -1)
	require.Len(t, all, len(call.FindAll(source, -1)), "each has a name and a sentence of help")
	for _, found := range all {
		assert.True(t, regexp.MustCompile("`"+found[1]+"[`{]").Match(reference), found[1])
		if found[1] != "ovn_central_database_file_compacted_seconds" { // this one is not known on every file system
			assert.Contains(t, text, "\n"+found[1])
		}
	}
}

// net/http puts the time into each answer, so the agent reads the clock of a peer from it.
func TestPeers_read_clock_from_answer(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(2*time.Minute).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"unit":"u/1"}`))
	}))
	defer other.Close()
	a, _ := newTestAgent(t)
	address := other.Listener.Addr().String()
	a.peers.all[address] = new(peer)
	a.peers.askOne(t.Context(), address, a.peers.all[address])
	wrong := a.status().WrongClocks()
	require.Len(t, wrong, 1)
	assert.Equal(t, "u/1", wrong[0].Unit)
	assert.InDelta(t, 120, wrong[0].Ahead.Seconds(), 5)
	assert.Contains(t, exports(t, a), `ovn_central_agent_peer_clock_ahead_seconds{peer="`+address+`"} 1`)
}
