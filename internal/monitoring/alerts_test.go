//go:build programs

package monitoring_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// member is the exporter's output about one unit's server. Values are promtool's:
// 1x5 is five times 1 after the first, 1+2x5 rises by 2 each minute.
type member struct {
	// down: the server does not run; then there are no metrics of the cluster.
	down bool
	// role is 3 for a leader, 1 for a follower; status 1 for a cluster's member.
	role, status int
	cluster      string
	term         string
	// peers and connected are how many others it knows, and has connections from.
	peers, connected     int
	uncommitted, pending string
	// behind is by how many entries its first peer is.
	behind int
	northd int
	up     int
	// acts is 1 if the unit's agent acts; changes, advised and stalled are its counters.
	acts, stalled    int
	changes, advised string
	// holder is the unit that the agent says acts; empty if it knows none.
	holder string
	// file and grown are bytes of its database's file; polls how often its server was silent
	// in an hour, longest for how many seconds; ahead is a peer's clock.
	file, grown, polls, longest, ahead int
	// backup is when its newest backup, of one each 10 minutes, was taken.
	backup string
	failed int
}

const minutes = 120

func steady(v int) string { return fmt.Sprintf("%dx%d", v, minutes) }

// scene is a cluster of n members: the first leads it. All is well.
func scene(n int) []member {
	var all []member
	for i := range n {
		m := member{role: 1, status: 1, cluster: "c1", term: steady(7), peers: n - 1, connected: n - 1, uncommitted: steady(0), pending: steady(0), northd: 100, up: 1}
		m.backup, m.holder = "0+60x120", "ovn-central/0"
		if m.changes, m.advised = steady(0), steady(0); i == 0 {
			m.role, m.acts = 3, 1
		}
		all = append(all, m)
	}
	return all
}

type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// metrics are the series of a unit, with the labels that Prometheus' charm adds.
func (m member) metrics(unit int) []series {
	juju := fmt.Sprintf(`juju_model=%q,juju_model_uuid=%q,juju_application=%q,juju_unit="ovn-central/%d",instance="i%d"`,
		topology.Model, topology.ModelUUID, topology.App, unit, unit)
	const db = `component="ovsdb-server-southbound"`
	one := func(name, labels, values string) series {
		return series{Series: fmt.Sprintf("%s{%s,%s}", name, juju, labels), Values: values}
	}
	pid := 200
	if m.down {
		pid = 0
	}
	all := []series{
		one("up", `job="juju_net_c2e9f4d5_ovn-central_prometheus_scrape_ovn-exporter"`, steady(m.up)),
		one("up", `job="juju_net_c2e9f4d5_ovn-central_node-exporter"`, steady(0)),
		one("ovn_up", `a="b"`, steady(0)),
		one("ovn_pid", `component="ovn-northd"`, steady(m.northd)),
		one("ovn_pid", `component="ovs-vswitchd"`, steady(0)),
		one("ovn_pid", db, steady(pid)),
	}
	if m.changes != "" {
		agent := `job="ovn_ovn-central-agent"`
		if m.holder != "" {
			all = append(all, one("ovn_central_lease_holder", fmt.Sprintf("%s,unit=%q", agent, m.holder), steady(1)))
		}
		all = append(all, one("ovn_central_lease_acts", agent, steady(m.acts)), one("ovn_central_agent_takes_part", agent, steady(1)),
			one("ovn_central_lease_changes_total", agent, m.changes), one("ovn_central_gateways_to_schedule_seconds", agent, m.advised),
			one("ovn_central_drains", agent+`,state="stalled"`, steady(m.stalled)), one("ovn_central_drains", agent+`,state="running"`, steady(1)))
		all = append(all, one("ovn_central_database_file_bytes", agent+`,database="sb"`, steady(m.file)), one("ovn_central_database_file_grown_bytes", agent+`,database="sb"`, steady(m.grown)),
			one("ovn_central_server_long_polls", agent+`,database="sb"`, steady(m.polls)), one("ovn_central_server_longest_poll_seconds", agent+`,database="sb"`, steady(m.longest)),
			one("ovn_central_agent_peer_clock_ahead_seconds", agent+`,peer="x"`, steady(m.ahead)))
		all = append(all, one("ovn_central_backup_interval_seconds", agent, steady(600)), one("ovn_central_backup_newest_timestamp_seconds", agent, m.backup),
			one("ovn_central_backup_failed", agent, steady(m.failed)))
	}
	if m.up == 0 {
		return append(all[:2], all[6:]...)
	}
	if m.down {
		return all
	}
	id := fmt.Sprintf(`%s,server_id="s%d",cluster_id=%q`, db, unit, m.cluster)
	all = append(all,
		one("ovn_cluster_role", id+`,server_uuid="x"`, steady(m.role)), one("ovn_cluster_status", id, steady(m.status)),
		one("ovn_cluster_term", id, m.term), one("ovn_cluster_peer_count", id, steady(m.peers)),
		one("ovn_cluster_uncommitted_entry_count", id, m.uncommitted), one("ovn_cluster_pending_entry_count", id, m.pending),
		one("ovn_cluster_match_index", id, steady(5000)))
	for p := range m.peers {
		peer := fmt.Sprintf(`%s,peer_id="p%d"`, id, p)
		connected, stored := 0, 5000
		if p < m.connected {
			connected = 1
		}
		if p == 0 {
			stored -= m.behind
		}
		all = append(all, one("ovn_cluster_peer_match_index", peer, steady(stored)),
			one("ovn_cluster_inbound_peer_connected", peer+`,peer_address="ssl:x"`, steady(connected)))
	}
	return all
}

// Each alert comes where it should, and no other does: by Prometheus' own judgement,
// an hour and a half into the scene.
func TestAlertsComeWhereTheyShould(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	for title, c := range map[string]struct {
		n      int
		change func([]member) []member
		firing []string
	}{
		"none where all is well": {n: 3},
		"none for two changes of leader, a busy moment and a small lag": {n: 3, change: func(m []member) []member {
			m[0].uncommitted, m[0].behind = "0x80 4x3 0x40", 900 // a moment ago
			for i := range m {
				m[i].term = "7x80 8x4 9x34" // each member has the new term
			}
			return m
		}},
		"a server that does not run": {n: 3, change: func(m []member) []member {
			m[0].connected, m[1].down = 1, true
			return m
		}, firing: []string{"OVNMemberWithoutUnit", "OVNNoFaultTolerance", "OVNServerDown"}},
		"five tolerate one more": {n: 5, change: func(m []member) []member {
			m[0].connected, m[1].down = 3, true
			return m
		}, firing: []string{"OVNMemberWithoutUnit", "OVNServerDown"}},
		"quorum lost": {n: 3, change: func(m []member) []member {
			m[0] = member{role: 2, cluster: "c1", term: "7+1x120", peers: 2, uncommitted: steady(2), pending: steady(0), northd: 100, up: 1}
			m[1].down, m[2].down = true, true
			m[1].holder, m[2].holder = "", "" // it is not known without the database
			return m
		}, firing: []string{"OVNAgentNowhere", "OVNFrequentElections", "OVNLogBacklog", "OVNMemberWithoutQuorum", "OVNQuorumLost", "OVNServerDown"}},
		"one cut off": {n: 3, change: func(m []member) []member {
			m[0].connected, m[2].status, m[2].role = 1, 0, 2
			return m
		}, firing: []string{"OVNMemberWithoutQuorum", "OVNNoFaultTolerance"}},
		"two leaders": {n: 3, change: func(m []member) []member {
			m[1].role = 3
			return m
		}, firing: []string{"OVNMultipleLeaders"}},
		"two clusters": {n: 3, change: func(m []member) []member {
			m[2].cluster, m[2].role, m[2].peers, m[2].connected = "c2", 3, 0, 0
			return m
		}, firing: []string{"OVNSeveralClusters", "OVNTooFewMembers"}},
		"a member of no unit": {n: 3, change: func(m []member) []member {
			m[0].peers, m[0].behind = 3, 4000
			return m
		}, firing: []string{"OVNEvenMembers", "OVNMemberLags", "OVNMemberWithoutUnit", "OVNNoFaultTolerance"}},
		"a sole member": {n: 1, firing: []string{"OVNTooFewMembers"}},
		"two members":   {n: 2, firing: []string{"OVNNoFaultTolerance", "OVNTooFewMembers"}},
		"four members":  {n: 4, firing: []string{"OVNEvenMembers"}},
		"elections again and again": {n: 3, change: func(m []member) []member {
			for i := range m {
				m[i].term = "7+1x120"
			}
			return m
		}, firing: []string{"OVNFrequentElections"}},
		"a disk that is too slow": {n: 3, change: func(m []member) []member {
			m[1].pending = steady(3)
			return m
		}, firing: []string{"OVNLogBacklog"}},
		"one northd down": {n: 3, change: func(m []member) []member {
			m[1].northd = 0
			return m
		}, firing: []string{"OVNNorthdDown"}},
		"no northd": {n: 3, change: func(m []member) []member {
			for i := range m {
				m[i].northd = 0
			}
			return m
		}, firing: []string{"OVNNorthdDown", "OVNNorthdNowhere"}},
		"no agent acts": {n: 3, change: func(m []member) []member {
			m[0].acts = 0
			for i := range m {
				m[i].holder = ""
			}
			return m
		}, firing: []string{"OVNAgentNowhere"}},
		"one that is said to act, and does not": {n: 3, change: func(m []member) []member {
			m[0].acts = 0
			return m
		}, firing: []string{"OVNAgentNowhere"}},
		"none for agents that are not scraped, as by metrics-endpoint alone": {n: 3, change: func(m []member) []member {
			for i := range m {
				m[i].changes = ""
			}
			return m
		}},
		"none where the agent that acts is the one that is not scraped": {n: 3, change: func(m []member) []member {
			m[0].changes = ""
			return m
		}},
		"agents that take turns": {n: 3, change: func(m []member) []member {
			m[1].changes = "0x60 0+1x60"
			return m
		}, firing: []string{"OVNAgentsTakeTurns"}},
		"none where three agents took over in an hour": {n: 3, change: func(m []member) []member {
			m[1].changes = "0x40 1x9 2x9 3x60"
			return m
		}},
		"a fourth one in the same hour": {n: 3, change: func(m []member) []member {
			m[1].changes = "0x40 1x9 2x9 3x9 4x60"
			return m
		}, firing: []string{"OVNAgentsTakeTurns"}},
		"none for advice of this morning": {n: 3, change: func(m []member) []member {
			m[2].advised = "86000x120"
			return m
		}},
		"advice of yesterday": {n: 3, change: func(m []member) []member {
			m[2].advised = "90000x120"
			return m
		}, firing: []string{"OVNGatewaysToSchedule"}},
		"none for a small file, a few silent moments and a clock of which a second isn't known": {n: 3, change: func(m []member) []member {
			m[0].file, m[0].grown, m[0].polls, m[0].longest, m[0].ahead = 50<<20, 45<<20, 3, 9, 2
			m[1].file, m[1].grown, m[1].polls, m[1].longest, m[1].ahead = 500<<20, 300<<20, 9, 1, -2
			return m
		}},
		"a file that is not compacted": {n: 3, change: func(m []member) []member {
			m[1].file, m[1].grown = 100<<20, 80<<20
			return m
		}, firing: []string{"OVNDatabaseNotCompacted"}},
		"a server that is silent again and again": {n: 3, change: func(m []member) []member {
			m[1].polls, m[1].longest = 6, 3
			return m
		}, firing: []string{"OVNServerSilent"}},
		"a clock that is behind": {n: 3, change: func(m []member) []member {
			m[1].ahead = -45
			return m
		}, firing: []string{"OVNClocksDiffer"}},
		"a drain that has stalled": {n: 3, change: func(m []member) []member {
			m[0].stalled = 2
			return m
		}, firing: []string{"OVNDrainStalled"}},
		"no backup for long": {n: 3, change: func(m []member) []member {
			m[1].backup = "0+60x5 300x114"
			return m
		}, firing: []string{"OVNBackupMissing"}},
		"a backup that failed": {n: 3, change: func(m []member) []member {
			m[2].failed = 1
			return m
		}, firing: []string{"OVNBackupMissing"}},
		"an exporter down": {n: 3, change: func(m []member) []member {
			m[2].up = 0
			return m
		}, firing: []string{"OVNExporterDown", "OVNMemberWithoutUnit"}},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			members := scene(c.n)
			if c.change != nil {
				members = c.change(members)
			}
			var input []series
			for i, m := range members {
				input = append(input, m.metrics(i)...)
			}
			assert.NoError(t, judge(t, tool, input, c.firing))
		})
	}
}

// A test that can't fail shows nothing.
func TestAnAlertThatDoesNotComeIsSeen(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	var input []series
	for i, m := range scene(3) {
		input = append(input, m.metrics(i)...)
	}
	require.Error(t, judge(t, tool, input, []string{"OVNQuorumLost"}))
}

// The alert that no unit acts fires after half a minute, not at once.
func TestAlertComesHalfAMinuteAfterNoUnitActs(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	var input []series
	for unit := range 3 {
		labels := fmt.Sprintf(`{juju_model=%q,juju_model_uuid=%q,juju_application=%q,juju_unit="ovn-central/%d"}`, topology.Model, topology.ModelUUID, topology.App, unit)
		acts := "0x99"
		if unit == 0 {
			acts = "1x39 0x59" // until 9m45s
		}
		input = append(input, series{"ovn_central_lease_acts" + labels, acts}, series{"ovn_central_agent_takes_part" + labels, "1x99"})
	}
	const often = "15s"
	require.NoError(t, judgeAt(t, tool, input, often, "10m15s", nil))
	require.NoError(t, judgeAt(t, tool, input, often, "10m30s", []string{"OVNAgentNowhere"}))
}

// judge asks promtool whether just these alerts fire.
func judge(t *testing.T, tool string, input []series, firing []string) error {
	t.Helper()
	return judgeAt(t, tool, input, "1m", "90m", firing)
}

// judgeAt asks it at that time, where all is scraped and judged so often.
func judgeAt(t *testing.T, tool string, input []series, often, at string, firing []string) error {
	t.Helper()
	type sample struct {
		Labels string `json:"labels"`
		Value  int    `json:"value"`
	}
	expected := map[string]sample{}
	for _, name := range firing {
		expected[name] = sample{Labels: fmt.Sprintf("{alertname=%q}", name), Value: 1}
	}
	test := map[string]any{
		"rule_files": []string{rulesFile(t, alertRules(t))}, "evaluation_interval": often,
		"tests": []any{map[string]any{
			"interval": often, "input_series": input,
			"promql_expr_test": []any{map[string]any{
				"expr": `group by (alertname) (ALERTS{alertstate="firing"})`, "eval_time": at,
				"exp_samples": slices.Collect(maps.Values(expected)),
			}},
		}},
	}
	data, err := json.Marshal(test)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: tool, Args: []string{"test", "rules", path}})
	if err != nil {
		t.Logf("%s %v", out, err)
	}
	return err
}
