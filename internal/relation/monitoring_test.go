package relation_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

var topology = relation.Topology{
	Model: "net", ModelUUID: "c2e9f4d5-dcb3-4870-8509-330eb9745ee8", App: "ovn", Unit: "ovn/0", Charm: "ovn-central",
}

// oneRule is a template of rules.
const oneRule = `{"groups": [{"name": "g", "rules": [
	{"alert": "A", "expr": "x{%%juju_topology%%,c=\"d\"} > 0", "for": "5m", "labels": {"severity": "warning"},
	"annotations": {"runbook": "run %%cluster_status%%"}}]}]}`

func rulesFor(t *testing.T, topology relation.Topology) relation.AlertRules {
	t.Helper()
	var rules relation.AlertRules
	require.NoError(t, json.Unmarshal([]byte(oneRule), &rules))
	return rules.For(topology, "juju run ovn/leader cluster-status")
}

func TestAlertRules_one_application(t *testing.T) {
	t.Parallel()
	other := topology
	other.App = "ovn-b"
	assert.NotEqual(t, rulesFor(t, topology).Groups[0].Name, rulesFor(t, other).Groups[0].Name)
	rule := rulesFor(t, topology).Groups[0].Rules[0]
	assert.Equal(t,
		`x{juju_model="net",juju_model_uuid="c2e9f4d5-dcb3-4870-8509-330eb9745ee8",juju_application="ovn",c="d"} > 0`,
		rule.Expr)
	assert.Equal(t, "run juju run ovn/leader cluster-status", rule.Annotations["runbook"])
	assert.Equal(t, map[string]string{
		"severity": "warning", "juju_model": "net", "juju_model_uuid": topology.ModelUUID, "juju_application": "ovn",
		"juju_charm": "ovn-central",
	}, rule.Labels)
}

func TestScrapeDatabag(t *testing.T) {
	t.Parallel()
	app, unit := relation.ScrapeDatabag(topology, true, netip.MustParseAddr("10.0.0.1"), rulesFor(t, topology))
	assert.JSONEq(t,
		`[{"job_name": "ovn-exporter", "metrics_path": "/metrics", "static_configs": [{"targets": ["*:9476"]}]}]`,
		app["scrape_jobs"])
	assert.JSONEq(t, `{"model": "net", "model_uuid": "c2e9f4d5-dcb3-4870-8509-330eb9745ee8",
		"application": "ovn", "unit": "ovn/0",
		"charm_name": "ovn-central"}`, app["scrape_metadata"])
	var rules relation.AlertRules
	require.NoError(t, json.Unmarshal([]byte(app["alert_rules"]), &rules))
	assert.Equal(t, rulesFor(t, topology), rules)
	assert.Equal(t, map[string]string{
		"prometheus_scrape_unit_address": "10.0.0.1",
		"prometheus_scrape_unit_name":    "ovn/0",
	}, unit)

	_, unit = relation.ScrapeDatabag(topology, true, netip.MustParseAddr("fd00::1"), relation.AlertRules{})
	assert.Equal(t, "[fd00::1]", unit["prometheus_scrape_unit_address"], "a port is put behind it")

	app, unit = relation.ScrapeDatabag(topology, true, netip.Addr{}, relation.AlertRules{})
	assert.Equal(t, map[string]string{"prometheus_scrape_unit_address": "", "prometheus_scrape_unit_name": ""}, unit)
	assert.NotEqual(t, "[]", app["scrape_jobs"], "other units may have it")
	app, _ = relation.ScrapeDatabag(topology, false, netip.Addr{}, relation.AlertRules{})
	assert.Equal(t, map[string]string{"scrape_jobs": "[]", "scrape_metadata": "", "alert_rules": ""}, app)
}

// CosAgentProviderUnitData requires these keys with these types. It refuses null for a list or an object.
func TestCOSAgentDatabag_required_keys(t *testing.T) {
	t.Parallel()
	databag := relation.COSAgentDatabag(topology, true, 16401, rulesFor(t, topology), rulesFor(t, topology),
		[]string{"AAAA"})
	require.Len(t, databag, 1)
	var config map[string]any
	require.NoError(t, json.Unmarshal([]byte(databag["config"]), &config))
	for _, list := range []string{"dashboards", "metrics_scrape_jobs", "log_slots", "tracing_protocols"} {
		assert.IsType(t, []any{}, config[list], list)
	}
	for _, object := range []string{"metrics_alert_rules", "log_alert_rules"} {
		assert.IsType(t, map[string]any{}, config[object], object)
	}
	assert.Equal(t, []any{"AAAA"}, config["dashboards"])
	jobs, err := json.Marshal(config["metrics_scrape_jobs"])
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"job_name": "ovn_ovn-exporter", "metrics_path": "/metrics", "static_configs": [{"targets": ["localhost:9476"]}]},
		{"job_name": "ovn_ovn-central-agent", "metrics_path": "/metrics",
			"static_configs": [{"targets": ["localhost:16401"]}]}
	]`, string(jobs))
	rules, err := json.Marshal(config["metrics_alert_rules"])
	require.NoError(t, err)
	assert.Contains(t, string(rules), `"alert":"A"`)
	assert.Equal(t, config["metrics_alert_rules"], config["log_alert_rules"], "both as given")
	assert.Equal(t, map[string]string{"config": ""}, relation.COSAgentDatabag(topology, false, 0,
		relation.AlertRules{}, relation.AlertRules{}, nil), "without an exporter and an agent")
}

func TestMonitorsDatabag_as_charm_helpers(t *testing.T) {
	t.Parallel()
	databag := relation.MonitorsDatabag([]string{"ovn-northd", "check_ovn_certs"})
	assert.Equal(t, "True", databag["primary"])
	assert.JSONEq(t, `{"monitors": {"remote": {"nrpe": {
		"check_ovn_certs": {"command": "check_check_ovn_certs"}, "ovn-northd": {"command": "check_ovn-northd"}}}}}`,
		databag["monitors"])
	assert.Equal(t, databag, relation.MonitorsDatabag([]string{"check_ovn_certs", "ovn-northd"}),
		"the order makes no change")
	assert.Empty(t, relation.MonitorsDatabag(nil)["monitors"])
	assert.Contains(t, relation.MonitorsDatabag(nil), "monitors", "what was published is taken back")
}

func TestParseNagiosHost(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		context string
		bag     map[string]string
		want    relation.NagiosHost
	}{
		"by nrpe": {
			"juju",
			map[string]string{"nagios_hostname": "net-node1"},
			relation.NagiosHost{Host: "net-node1", Unit: "ovn-central/0"},
		},
		"by nrpe, in context": {
			"juju",
			map[string]string{"nagios_hostname": "n", "nagios_host_context": "prod"},
			relation.NagiosHost{Host: "n", Unit: "prod:ovn-central/0"},
		},
		"before nrpe has":   {"juju", nil, relation.NagiosHost{Host: "juju-ovn-central-0", Unit: "ovn-central/0"}},
		"without a context": {"", nil, relation.NagiosHost{Host: "ovn-central-0", Unit: "ovn-central/0"}},
	} {
		host, err := relation.ParseNagiosHost("ovn-central/0", c.context, c.bag)
		require.NoError(t, err, title)
		assert.Equal(t, c.want, host, title)
	}
}

// The names end up in files that root's programs read.
func TestParseNagiosHost_unsafe_names(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"x/../../../../../etc/rsyslog.d/evil", "a\ncommand[x]=/bin/sh", "a b", "\x1b[2J", "é",
		strings.Repeat("a", 200),
	} {
		host, err := relation.ParseNagiosHost("ovn-central/0", "juju",
			map[string]string{"nagios_hostname": value, "nagios_host_context": value})
		require.ErrorContains(t, err, "nagios_hostname ")
		require.ErrorContains(t, err, "nagios_host_context ")
		assert.Equal(t, relation.NagiosHost{Host: "juju-ovn-central-0", Unit: "ovn-central/0"}, host)
	}
}
