package content_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/content"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

const clusterStatus = "juju run ovn-central/leader cluster-status"

var topology = relation.Topology{
	Model: "net", ModelUUID: "c2e9f4d5-dcb3-4870-8509-330eb9745ee8", App: "ovn-central", Unit: "ovn-central/0",
	Charm: "ovn-central",
}

func alertRules() relation.AlertRules { return content.AlertRules().For(topology, clusterStatus) }

func exporterRules() relation.AlertRules {
	return content.ExporterAlertRules().For(topology, clusterStatus)
}

// allRules returns the rules for the agent's metrics, for the exporter's metrics, and for logs.
func allRules() []relation.AlertRules {
	return []relation.AlertRules{
		alertRules(), exporterRules(), content.LogAlertRules().For(topology, clusterStatus),
	}
}

// exported are the exporter's metrics that rules and dashboard use, with their labels. Source: prometheus.NewDesc in
// pkg/ovn_exporter/ovn_exporter.go of ovn_exporter 1.0.7. Up is Prometheus' own metric.
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
}

var (
	selector = regexp.MustCompile(`\b(up|ovn_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!=|=)`)
)

// selects checks that an expression uses only metrics of the agent, or known metrics of the exporter, and selects one
// application in each. The reference has all of the agent's metrics: internal/agent compares it.
func selects(t *testing.T, expr string) {
	t.Helper()
	reference := text(t, "../../../docs/reference/monitoring.md")
	found := selector.FindAllStringSubmatch(expr, -1)
	require.NotEmpty(t, found, expr)
	for _, m := range found {
		assert.Contains(t, m[2], "juju_application=", "%s of every application", m[1])
		if strings.HasPrefix(m[1], "ovn_central_") {
			listed := strings.Contains(reference, "`"+m[1]+"`") || strings.Contains(reference, "`"+m[1]+"{")
			assert.True(t, listed, "%s is not a metric of the agent", m[1])
			continue
		}
		labels, known := exported[m[1]]
		assert.True(t, known, "%s is not a metric of the exporter, nor of the agent", m[1])
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !strings.HasPrefix(l[1], "juju_") && l[1] != "job" {
				assert.Contains(t, strings.Fields(labels), l[1], "%s has no label %s", m[1], l[1])
			}
		}
	}
}

// Alerts for the agent's metrics need no other program.
func TestAlertRules_of_agent_use_its_metrics(t *testing.T) {
	t.Parallel()
	for _, group := range alertRules().Groups {
		for _, rule := range group.Rules {
			for _, m := range selector.FindAllStringSubmatch(rule.Expr, -1) {
				assert.True(t, m[1] == "up" || strings.HasPrefix(m[1], "ovn_central_"), rule.Alert)
			}
		}
	}
}

func TestAlertRules_have_runbooks(t *testing.T) {
	t.Parallel()
	findings := text(t, "../../../docs/reference/findings.md")
	for _, rules := range allRules() {
		seen := map[string]bool{}
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				assert.False(t, seen[rule.Alert], "%s twice", rule.Alert)
				seen[rule.Alert] = true
				if !strings.Contains(rule.Expr, "count_over_time({") { // otherwise the rule is about logs
					selects(t, rule.Expr)
				}
				assert.NotContains(t, rule.Expr, "%%", rule.Alert)
				assert.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
				for _, key := range []string{"summary", "description", "runbook", "runbook_url"} {
					assert.NotEmpty(t, rule.Annotations[key], "%s of %s", key, rule.Alert)
					assert.NotContains(t, rule.Annotations[key], "%%", rule.Alert)
				}
				assert.Contains(t, rule.Annotations["runbook"], clusterStatus, rule.Alert)
				leads(t, rule.Annotations["runbook_url"], findings)
			}
		}
	}
}

// Metrics show what these alerts are about earlier than the finding of the linked code, or more of it.
var aboutMore = map[string]string{
	"OVNDiskAlmostFull": "the disk is not full yet", "OVNNoFaultTolerance": "one more failure is an outage",
	"OVNMemberLags": "the member is up", "OVNAgentDown": "a dead agent has no metric of findings",
	"OVNChassisUnresponsive": "the chassis may host no gateway",
}

func TestAlertRules_one_for_each_problem(t *testing.T) {
	t.Parallel()
	lasting := map[string]bool{}
	for _, e := range finding.Catalogue() {
		lasting[present.URL(e.Code)] = e.For > 0
	}
	for _, group := range content.AlertRules().Groups {
		for _, rule := range group.Rules {
			if group.Name != "findings" && lasting[rule.Annotations["runbook_url"]] {
				assert.NotEmpty(t, aboutMore[rule.Alert], "%s and a finding's alert fire together", rule.Alert)
			}
		}
	}
}

// leads checks that a link leads to a page of the documents. A link to the page of findings must lead to a finding
// there.
func leads(t *testing.T, url, findings string) {
	t.Helper()
	to, found := strings.CutPrefix(url, version.Docs)
	require.True(t, found, url)
	file, place, _ := strings.Cut(to, "#")
	assert.FileExists(t, filepath.Join("../../../docs", strings.TrimSuffix(file, ".html")+".md"), url)
	if place != "" {
		assert.Contains(t, findings, "\n### "+strings.ToUpper(strings.ReplaceAll(place, "-", "_"))+"\n", url)
	}
}

func TestAlertRules_are_in_reference(t *testing.T) {
	t.Parallel()
	reference := text(t, "../../../docs/reference/monitoring.md")
	for _, rules := range allRules() {
		for _, group := range rules.Groups {
			if strings.HasSuffix(group.Name, "_findings") { // these alerts are in the page of findings
				continue
			}
			for _, rule := range group.Rules {
				assert.Contains(t, reference, "\n| `"+rule.Alert+"` | "+rule.Labels["severity"]+" | ")
			}
		}
	}
}

func TestFindingAlerts(t *testing.T) {
	t.Parallel()
	found := map[string]relation.AlertRule{}
	for _, g := range alertRules().Groups {
		for _, r := range g.Rules {
			require.NotContains(t, found, r.Alert)
			found[r.Alert] = r
			assert.NotRegexp(t, `(^|[^/])docs/`, r.Annotations["runbook"], "a path in the repository")
		}
	}
	alerts := 0
	for _, e := range finding.Catalogue() {
		name := content.AlertName(e.Code)
		r, there := found[name]
		require.Equal(t, e.For > 0, there, name)
		if !there {
			continue
		}
		alerts++
		assert.Contains(t, r.Expr, `code="`+string(e.Code)+`"`)
		assert.Equal(t, present.URL(e.Code), r.Annotations["runbook_url"])
		assert.Equal(t, e.Severity == finding.Error, r.Labels["severity"] == "critical", name)
	}
	assert.Greater(t, alerts, 20)
	assert.Equal(t, "OVNCentralMemberDown", content.AlertName(finding.MemberDown))
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
