//go:build programs

package content_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/content"
)

// member is one unit's server, as the exporter and the unit's agent measure it. Values are in promtool's notation:
// 1x5 is 1 followed by five more 1s, 1+2x5 rises by 2 each minute.
type member struct {
	// down: the server does not run. Then there are no metrics of the cluster.
	down bool
	// role is 3 for a leader and 1 for a follower; status is 1 for a cluster's member.
	role, status int
	cluster      string
	term         string
	// peers and connected are how many other members it knows, and how many have a connection to it.
	peers, connected     int
	uncommitted, pending string
	// behind is the number of entries by which its first peer is behind.
	behind int
	northd int
	up     int
	// active is 1 if its ovn-northd is the active one. hook, expires and northdBehind are times in seconds.
	active                int
	hook                  string
	expires, northdBehind int
	// silent: Prometheus gets no answer from its agent.
	silent bool
	// acts is 1 if the unit's agent acts; changes, advised and stalled are its counters.
	acts, stalled int
	// silentChassis is how many chassis do not respond. full reports whether less than 1 GiB is free.
	silentChassis    int
	full             bool
	changes, advised string
	// holder is the unit that acts according to the agent; empty if the agent knows none.
	holder string
	// file and grown are sizes of its database's file, in bytes. polls is how often its server did not answer in an
	// hour, longest for how many seconds. ahead is a peer's clock.
	file, grown, polls, longest, ahead int
	// backup is when its newest backup was taken; a backup is made each 10 minutes.
	backup string
	failed int
}

const minutes = 120

func steady(v int) string { return fmt.Sprintf("%dx%d", v, minutes) }

// healthy returns a cluster of n members. The first leads it.
func healthy(n int) []member {
	var all []member
	for i := range n {
		m := member{
			role: 1, status: 1, cluster: "c1", term: steady(7), peers: n - 1, connected: n - 1,
			uncommitted: steady(0), pending: steady(0), northd: 100, up: 1,
		}
		m.backup, m.holder, m.hook, m.expires = "0+60x120", "ovn-central/0", "0+60x120", 10_000_000
		if m.changes, m.advised = steady(0), steady(0); i == 0 {
			m.role, m.acts, m.active = 3, 1, 1
		}
		all = append(all, m)
	}
	return all
}

func each(all []member, change func(*member)) {
	for i := range all {
		change(&all[i])
	}
}

// all returns a change of every member.
func all(change func(*member)) func([]member) { return func(m []member) { each(m, change) } }

type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// of returns a function that makes a series of a unit, with the labels that Prometheus' charm adds.
func of(unit int) func(name, labels, values string) series {
	juju := fmt.Sprintf(`juju_model=%q,juju_model_uuid=%q,juju_application=%q,juju_unit="ovn-central/%d",instance="i%d"`,
		topology.Model, topology.ModelUUID, topology.App, unit, unit)
	return func(name, labels, values string) series {
		return series{Series: fmt.Sprintf("%s{%s,%s}", name, juju, labels), Values: values}
	}
}

// agent returns the series of a unit's agent. For a follower, the series of the cluster are those of the leader.
func (m member) agent(unit int, leader member) (all []series) {
	if m.changes == "" {
		return nil
	}
	one := of(unit)
	add := func(name, labels, values string) {
		all = append(all, one("ovn_central_"+name, strings.Trim(`job="ovn_ovn-central-agent",`+labels, ","), values))
	}
	all = append(all, one("up", `job="ovn_ovn-central-agent"`, steady(bit(!m.silent))))
	if m.silent {
		return all
	}
	if m.holder != "" {
		add("lease_holder", fmt.Sprintf("unit=%q", m.holder), steady(1))
	}
	for name, value := range map[string]int{
		"lease_acts": m.acts, "agent_takes_part": 1, "northd_works": bit(m.northd > 0), "northd_active": m.active,
		"northd_behind_seconds":   m.northdBehind,
		"backup_interval_seconds": 600, "backup_failed": m.failed,
	} {
		add(name, "", steady(value))
	}
	add("lease_changes_total", "", m.changes)
	add("gateways_to_schedule_seconds", "", m.advised)
	add("last_hook_timestamp_seconds", "", m.hook)
	if m.backup != "" {
		add("backup_newest_timestamp_seconds", "", m.backup)
	}
	add("certificate_expiry_timestamp_seconds", `certificate="unit"`, steady(m.expires))
	add("agent_peer_clock_ahead_seconds", `peer="x"`, steady(m.ahead))
	add("drains", `state="stalled"`, steady(m.stalled))
	add("drains", `state="running"`, steady(1))
	add("chassis", `state="unresponsive"`, steady(m.silentChassis))
	add("chassis", `state="gateway"`, steady(3))
	add("disk_free_bytes", "", steady((20-20*bit(m.full))<<30))
	const db = `database="sb"`
	for name, value := range map[string]int{
		"database_file_bytes": m.file, "database_file_grown_bytes": m.grown, "server_long_polls": m.polls,
		"server_longest_poll_seconds": m.longest, "server_up": bit(!m.down),
	} {
		add(name, db, steady(value))
	}
	if m.down {
		return all
	}
	for role, number := range map[string]int{"leader": 3, "candidate": 2, "follower": 1} {
		add("member_role", fmt.Sprintf("%s,role=%q", db, role), steady(bit(m.role == number)))
	}
	counts := m
	if m.role == 1 {
		counts = leader
	}
	up := (1 + counts.connected) * m.status // a server that is cut off sees no member, not even itself
	for name, value := range map[string]int{
		"member_has_leader": m.status, "members": counts.peers + 1,
		"fault_tolerance": up - (counts.peers+1)/2 - 1,
	} {
		add(name, db, steady(value))
	}
	add("member_info", fmt.Sprintf(`%s,cluster=%q,server="s%d"`, db, m.cluster, unit), steady(1))
	add("raft_term", db, m.term)
	add("raft_uncommitted_entries", db, m.uncommitted)
	add("raft_unapplied_entries", db, m.pending)
	if m.role == 3 && m.peers > 0 {
		add("raft_behind_entries", db+`,member="p0",unit=""`, steady(m.behind))
	}
	return all
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// exporter returns the series of a unit's exporter.
func (m member) exporter(unit int) []series {
	one := of(unit)
	const db = `component="ovsdb-server-southbound"`
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

// After an hour and a half, Prometheus fires exactly the expected alerts.
func TestAlerts(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	for title, c := range map[string]struct {
		n      int // members; 0 means three
		change func([]member)
		firing string // names, separated by spaces
	}{
		"healthy":      {},
		"sole_member":  {n: 1, firing: "OVNTooFewMembers"},
		"two_members":  {n: 2, firing: "OVNNoFaultTolerance OVNTooFewMembers"},
		"four_members": {n: 4, firing: "OVNEvenMembers"},
		"two_changes_of_leader_and_a_small_lag": {change: func(m []member) {
			m[0].uncommitted, m[0].behind = "0x80 4x3 0x40", 900  // a moment ago
			each(m, func(m *member) { m.term = "7x80 8x4 9x34" }) // each member has the new term
		}},
		"server_down": {
			change: func(m []member) { m[0].connected, m[1].down = 1, true },
			firing: "OVNMemberWithoutUnit OVNNoFaultTolerance OVNServerDown",
		},
		"server_of_five_down": {
			n: 5, change: func(m []member) { m[0].connected, m[1].down = 3, true },
			firing: "OVNMemberWithoutUnit OVNServerDown",
		},
		"quorum_lost": {change: func(m []member) {
			m[0].role, m[0].status, m[0].term, m[0].connected, m[0].uncommitted, m[0].acts = 2, 0, "7+1x120", 0, steady(2), 0
			m[1].down, m[2].down = true, true
			each(m, func(m *member) { m.holder = "" }) // without the database the holder is not known
		}, firing: "OVNAgentNowhere OVNFrequentElections OVNLogBacklog OVNMemberWithoutQuorum OVNQuorumLost OVNServerDown"},
		"member_cut_off": {
			change: func(m []member) { m[0].connected, m[2].status, m[2].role = 1, 0, 2 },
			firing: "OVNMemberWithoutQuorum OVNNoFaultTolerance",
		},
		"two_leaders": {change: func(m []member) { m[1].role = 3 }, firing: "OVNMultipleLeaders"},
		"two_clusters": {
			change: func(m []member) { m[2].cluster, m[2].role, m[2].peers, m[2].connected = "c2", 3, 0, 0 },
			firing: "OVNSeveralClusters OVNTooFewMembers",
		},
		"member_without_unit": {
			change: func(m []member) { m[0].peers, m[0].behind = 3, 4000 },
			firing: "OVNEvenMembers OVNMemberLags OVNMemberWithoutUnit OVNNoFaultTolerance",
		},
		"frequent_elections": {change: all(func(m *member) { m.term = "7+1x120" }), firing: "OVNFrequentElections"},
		"slow_disk":          {change: func(m []member) { m[1].pending = steady(3) }, firing: "OVNLogBacklog"},
		"northd_down":        {change: func(m []member) { m[1].northd = 0 }, firing: "OVNNorthdDown"},
		"no_northd": {
			change: all(func(m *member) { m.northd, m.active = 0, 0 }), firing: "OVNNorthdDown OVNNorthdNowhere",
		},
		"northd_behind":               {change: all(func(m *member) { m.northdBehind = 90 }), firing: "OVNNorthdBehind"},
		"northd_behind_for_one_agent": {change: func(m []member) { m[1].northdBehind = 90 }},
		"no_agent_acts": {
			change: all(func(m *member) { m.acts, m.holder = 0, "" }), firing: "OVNAgentNowhere",
		},
		"holder_does_not_act":      {change: func(m []member) { m[0].acts = 0 }, firing: "OVNAgentNowhere"},
		"no_agent_scraped":         {change: all(func(m *member) { m.changes = "" })}, // as with metrics-endpoint alone
		"acting_agent_not_scraped": {change: func(m []member) { m[0].changes = "" }},
		"silent_agent_of_northd":   {change: func(m []member) { m[0].silent = true }, firing: "OVNAgentDown"},
		"lease_alternates": {
			change: func(m []member) { m[1].changes = "0x60 0+1x60" }, firing: "OVNAgentsTakeTurns",
		},
		"three_takeovers_in_an_hour": {change: func(m []member) { m[1].changes = "0x40 1x9 2x9 3x60" }},
		"four_takeovers_in_an_hour": {
			change: func(m []member) { m[1].changes = "0x40 1x9 2x9 3x9 4x60" }, firing: "OVNAgentsTakeTurns",
		},
		"advice_of_this_morning": {change: func(m []member) { m[2].advised = "86000x120" }},
		"advice_of_yesterday":    {change: func(m []member) { m[2].advised = "90000x120" }, firing: "OVNGatewaysToSchedule"},
		"small_file_few_silent_moments_clocks_within_two_seconds": {change: func(m []member) {
			m[0].file, m[0].grown, m[0].polls, m[0].longest, m[0].ahead = 50<<20, 45<<20, 3, 9, 2
			m[1].file, m[1].grown, m[1].polls, m[1].longest, m[1].ahead = 500<<20, 300<<20, 9, 1, -2
		}},
		"file_not_compacted": {
			change: func(m []member) { m[1].file, m[1].grown = 100<<20, 80<<20 }, firing: "OVNDatabaseNotCompacted",
		},
		"server_often_silent": {
			change: func(m []member) { m[1].polls, m[1].longest = 6, 3 }, firing: "OVNServerSilent",
		},
		"clock_behind":    {change: func(m []member) { m[1].ahead = -45 }, firing: "OVNClocksDiffer"},
		"drain_stalled":   {change: func(m []member) { m[0].stalled = 2 }, firing: "OVNDrainStalled"},
		"silent_chassis":  {change: all(func(m *member) { m.silentChassis = 2 }), firing: "OVNChassisUnresponsive"},
		"full_disk":       {change: func(m []member) { m[1].full = true }, firing: "OVNDiskAlmostFull"},
		"backup_too_old":  {change: func(m []member) { m[1].backup = "0+60x5 300x114" }, firing: "OVNBackupMissing"},
		"no_backup":       {change: func(m []member) { m[1].backup = "" }, firing: "OVNBackupMissing"},
		"backup_failed":   {change: func(m []member) { m[2].failed = 1 }, firing: "OVNBackupMissing"},
		"no_hook":         {change: func(m []member) { m[1].hook = "-7200x120" }, firing: "OVNHooksSilent"},
		"old_certificate": {change: func(m []member) { m[1].expires = 2 * 86400 }, firing: "OVNCertificateExpires"},
		"exporter_down":   {change: func(m []member) { m[2].up = 0 }, firing: "OVNExporterDown OVNMemberWithoutUnit"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			members := healthy(cmp.Or(c.n, 3))
			if c.change != nil {
				c.change(members)
			}
			leader := members[0]
			var agents, exporters []series
			for i, m := range members {
				agents, exporters = append(agents, m.agent(i, leader)...), append(exporters, m.exporter(i)...)
			}
			assert.NoError(t, judge(t, tool, alertRules(), agents, strings.Fields(c.firing)...), "agents")
			assert.NoError(t, judge(t, tool, exporterRules(), exporters, strings.Fields(c.firing)...), "exporters")
		})
	}
}

// A finding that lasts fires the alert of its code, and no other.
func TestFindingAlerts_fire(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	one, each := of(1), every{scrape: "1m", evaluate: "1m"}
	var all []string
	var input []series
	for _, e := range finding.Catalogue() {
		labels := fmt.Sprintf(`code=%q,severity=%q,subject="x"`, e.Code, e.Severity)
		input = append(input, one("ovn_central_finding", labels, steady(1)))
		if e.For > 0 && e.For < 90*time.Minute { // judge looks then
			all = append(all, content.AlertName(e.Code))
		}
	}
	require.NoError(t, judge(t, tool, alertRules(), input, all...))
	require.NoError(t, judgeAt(t, tool, alertRules(), input, each, "0m"), "none has lasted")
	down := []series{one("ovn_central_finding", `code="MEMBER_DOWN",severity="warning",subject="x"`, "1x40 0x80")}
	require.NoError(t, judgeAt(t, tool, alertRules(), down, each, "40m", "OVNCentralMemberDown"))
	require.NoError(t, judge(t, tool, alertRules(), down), "it has ended")
}

// judge notices a missing alert.
func TestAlerts_missing_one_is_noticed(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	var input []series
	members := healthy(3)
	for i, m := range members {
		input = append(input, m.agent(i, members[0])...)
	}
	require.Error(t, judge(t, tool, alertRules(), input, "OVNQuorumLost"))
}

// The alert that no unit acts fires after half a minute, not at once.
func TestAlerts_no_unit_acts_for_half_a_minute(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	var input []series
	for unit := range 3 {
		labels := fmt.Sprintf(`{juju_model=%q,juju_model_uuid=%q,juju_application=%q,juju_unit="ovn-central/%d"}`,
			topology.Model, topology.ModelUUID, topology.App, unit)
		acts := "0x99"
		if unit == 0 {
			acts = "1x39 0x59" // until 9m45s
		}
		input = append(input, series{"ovn_central_lease_acts" + labels, acts}, series{
			"ovn_central_agent_takes_part" + labels,
			"1x99",
		})
	}
	often := every{scrape: "15s", evaluate: "15s"}
	require.NoError(t, judgeAt(t, tool, alertRules(), input, often, "10m15s"))
	require.NoError(t, judgeAt(t, tool, alertRules(), input, often, "10m30s", "OVNAgentNowhere"))
}
