package monitoring_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

const clusterStatus = "juju run ovn-central/leader cluster-status"

var topology = relation.Topology{
	Model: "net", ModelUUID: "c2e9f4d5-dcb3-4870-8509-330eb9745ee8", App: "ovn-central", Unit: "ovn-central/0", Charm: "ovn-central",
}

func page(code finding.Code) string { return "https://docs.test/findings#" + string(code) }

func alertRules(t *testing.T) relation.AlertRules {
	t.Helper()
	text, err := monitoring.AlertRules(page)
	require.NoError(t, err)
	rules, err := relation.ParseAlertRules(text)
	require.NoError(t, err)
	return rules.For(topology, clusterStatus)
}

// exported are the metrics that rules and dashboard use, with their labels. Source:
// prometheus.NewDesc in pkg/ovn_exporter/ovn_exporter.go of ovn_exporter 1.0.7. Up
// is Prometheus' own.
var exported = map[string]string{
	"up":                                  "",
	"ovn_pid":                             "component",
	"ovn_memory_usage":                    "component facility",
	"ovn_cluster_role":                    "component server_id cluster_id",
	"ovn_cluster_status":                  "component server_id cluster_id",
	"ovn_cluster_term":                    "component server_id cluster_id",
	"ovn_cluster_enabled":                 "component",
	"ovn_cluster_peer_count":              "component server_id cluster_id",
	"ovn_cluster_match_index":             "component server_id cluster_id",
	"ovn_cluster_peer_match_index":        "component server_id cluster_id peer_id",
	"ovn_cluster_inbound_peer_connected":  "component server_id cluster_id peer_id peer_address",
	"ovn_cluster_uncommitted_entry_count": "component server_id cluster_id",
	"ovn_cluster_pending_entry_count":     "component server_id cluster_id",
	// The agent's own (internal/agent/metrics.go).
	"ovn_central_lease_acts":                   "",
	"ovn_central_lease_holder":                 "unit",
	"ovn_central_agent_takes_part":             "",
	"ovn_central_lease_changes_total":          "",
	"ovn_central_gateways_to_schedule_seconds": "",
	// internal/agent/servers.go
	"ovn_central_database_file_bytes":             "database",
	"ovn_central_database_file_grown_bytes":       "database",
	"ovn_central_server_long_polls":               "database",
	"ovn_central_server_longest_poll_seconds":     "database",
	"ovn_central_agent_peer_clock_ahead_seconds":  "peer",
	"ovn_central_drains":                          "state",
	"ovn_central_finding":                         "code severity subject",
	"ovn_central_backup_interval_seconds":         "",
	"ovn_central_backup_newest_timestamp_seconds": "",
	"ovn_central_backup_failed":                   "",
}

var (
	selector = regexp.MustCompile(`\b(up|ovn_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!=|=)`)
)

// selects checks that the metrics of an expression are the exporter's, and that each
// looks at one application only.
func selects(t *testing.T, expr string) {
	t.Helper()
	found := selector.FindAllStringSubmatch(expr, -1)
	require.NotEmpty(t, found, expr)
	for _, m := range found {
		labels, known := exported[m[1]]
		assert.True(t, known, "%s is not a metric of the exporter, nor of the agent", m[1])
		assert.Contains(t, m[2], "juju_application=", "%s of every application", m[1])
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !strings.HasPrefix(l[1], "juju_") && l[1] != "job" {
				assert.Contains(t, strings.Fields(labels), l[1], "%s has no label %s", m[1], l[1])
			}
		}
	}
}

func TestEveryAlertSaysWhatToRun(t *testing.T) {
	t.Parallel()
	rules := alertRules(t)
	require.NotEmpty(t, rules.Groups)
	seen := map[string]bool{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			assert.False(t, seen[rule.Alert], "%s twice", rule.Alert)
			seen[rule.Alert] = true
			selects(t, rule.Expr)
			assert.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
			for _, key := range []string{"summary", "description", "runbook"} {
				assert.NotEmpty(t, rule.Annotations[key], "%s of %s", key, rule.Alert)
				assert.NotContains(t, rule.Annotations[key], "%%", rule.Alert)
			}
			assert.Contains(t, rule.Annotations["runbook"], clusterStatus, rule.Alert)
			for _, m := range regexp.MustCompile(`docs/[\w/.-]+\.md`).FindAllString(rule.Annotations["runbook"], -1) {
				assert.FileExists(t, filepath.Join("../..", m), rule.Alert)
			}
		}
	}
}

func TestEveryAlertIsInTheReference(t *testing.T) {
	t.Parallel()
	reference := text(t, "../../docs/reference/monitoring.md")
	for _, group := range alertRules(t).Groups {
		if strings.HasSuffix(group.Name, "_findings") { // they are in the page of findings
			continue
		}
		for _, rule := range group.Rules {
			assert.Regexp(t, `(?m)^\| `+"`"+rule.Alert+"`"+` \| `+rule.Labels["severity"]+` \| `, reference)
		}
	}
}

// The observability stack shows one dashboard of a title and a uid: the earlier
// charm's (src/files/dashboards/ovn-exporter-ovsdb-grafana.json) is replaced.
func TestDashboardTakesThePlaceOfTheEarlierCharms(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var dashboard struct{ Title, UID string }
	require.NoError(t, json.Unmarshal(content, &dashboard))
	assert.Equal(t, "Juju: OVN Central (OVSDB)", dashboard.Title)
	assert.Equal(t, "2242b26722e7d0026fb829afb49b23132ebffb47", dashboard.UID)
}
