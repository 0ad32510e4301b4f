package relation_test

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

var topology = relation.Topology{
	Model: "net", ModelUUID: "c2e9f4d5-dcb3-4870-8509-330eb9745ee8", App: "ovn", Unit: "ovn/0", Charm: "ovn-central",
}

const oneRule = `{"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "x{%%juju_topology%%,c=\"d\"} > 0", "for": "5m",
	"labels": {"severity": "warning"}, "annotations": {"runbook": "run %%cluster_status%%"}}]}]}`

func rulesFor(t *testing.T, topology relation.Topology) relation.AlertRules {
	t.Helper()
	rules, err := relation.ParseAlertRules([]byte(oneRule))
	require.NoError(t, err)
	return rules.For(topology, "juju run ovn/leader cluster-status")
}

func TestAlertRules_one_application(t *testing.T) {
	t.Parallel()
	template, err := relation.ParseAlertRules([]byte(oneRule))
	require.NoError(t, err)
	other := topology
	other.App = "ovn-b"
	first, second := template.For(topology, "s"), template.For(other, "s")
	assert.NotEqual(t, first.Groups[0].Name, second.Groups[0].Name)
	assert.Equal(t, template.For(topology, "s"), first, "the second has not changed the first")
	rule := template.For(topology, "juju run ovn/leader cluster-status").Groups[0].Rules[0]
	assert.Equal(t, `x{juju_model="net",juju_model_uuid="c2e9f4d5-dcb3-4870-8509-330eb9745ee8",juju_application="ovn",c="d"} > 0`, rule.Expr)
	assert.Equal(t, "run juju run ovn/leader cluster-status", rule.Annotations["runbook"])
	assert.Equal(t, map[string]string{
		"severity": "warning", "juju_model": "net", "juju_model_uuid": topology.ModelUUID, "juju_application": "ovn", "juju_charm": "ovn-central",
	}, rule.Labels)
	assert.Equal(t, "A", rule.Alert)
}

func TestDamagedRulesAreRefused(t *testing.T) {
	t.Parallel()
	_, err := relation.ParseAlertRules([]byte("groups:\n"))
	require.ErrorContains(t, err, "cannot read alert rules")
}

func TestScrapeDatabag(t *testing.T) {
	t.Parallel()
	app, unit := relation.ScrapeDatabag(topology, true, netip.MustParseAddr("10.0.0.1"), rulesFor(t, topology))
	assert.JSONEq(t, `[{"job_name": "ovn-exporter", "metrics_path": "/metrics", "static_configs": [{"targets": ["*:9476"]}]}]`, app["scrape_jobs"])
	assert.JSONEq(t, `{"model": "net", "model_uuid": "c2e9f4d5-dcb3-4870-8509-330eb9745ee8", "application": "ovn", "unit": "ovn/0",
		"charm_name": "ovn-central"}`, app["scrape_metadata"])
	var rules relation.AlertRules
	require.NoError(t, json.Unmarshal([]byte(app["alert_rules"]), &rules))
	assert.Equal(t, rulesFor(t, topology), rules)
	assert.Equal(t, map[string]string{"prometheus_scrape_unit_address": "10.0.0.1", "prometheus_scrape_unit_name": "ovn/0"}, unit)

	_, unit = relation.ScrapeDatabag(topology, true, netip.MustParseAddr("fd00::1"), relation.AlertRules{})
	assert.Equal(t, "[fd00::1]", unit["prometheus_scrape_unit_address"], "a port is put behind it")
}

func TestScrapeDatabag_withdrawn(t *testing.T) {
	t.Parallel()
	app, unit := relation.ScrapeDatabag(topology, true, netip.Addr{}, relation.AlertRules{})
	assert.Equal(t, map[string]string{"prometheus_scrape_unit_address": "", "prometheus_scrape_unit_name": ""}, unit)
	assert.NotEqual(t, "[]", app["scrape_jobs"], "other units may have it")
	app, _ = relation.ScrapeDatabag(topology, false, netip.Addr{}, relation.AlertRules{})
	assert.Equal(t, map[string]string{"scrape_jobs": "[]", "scrape_metadata": "", "alert_rules": ""}, app)
}
