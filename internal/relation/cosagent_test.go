package relation_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// CosAgentProviderUnitData requires these keys with these types: null is refused for a list or an object.
func TestCOSAgentDatabag_required_keys(t *testing.T) {
	t.Parallel()
	databag := relation.COSAgentDatabag(topology, true, 16401, rulesFor(t, topology), rulesFor(t, topology), []string{"AAAA"})
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
	assert.JSONEq(t, `[{"job_name": "ovn_ovn-exporter", "metrics_path": "/metrics", "static_configs": [{"targets": ["localhost:9476"]}]},
		{"job_name": "ovn_ovn-central-agent", "metrics_path": "/metrics", "static_configs": [{"targets": ["localhost:16401"]}]}]`, string(jobs))
	rules, err := json.Marshal(config["metrics_alert_rules"])
	require.NoError(t, err)
	assert.Contains(t, string(rules), `"alert":"A"`)
	assert.Equal(t, config["metrics_alert_rules"], config["log_alert_rules"], "both as given")
}

func TestCOSAgentDatabag_without_exporter(t *testing.T) {
	t.Parallel()
	assert.Equal(t, map[string]string{"config": ""}, relation.COSAgentDatabag(topology, false, 0, rulesFor(t, topology), rulesFor(t, topology), []string{"AAAA"}))
}
