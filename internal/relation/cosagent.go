package relation

// keyConfig is the key on [COSAgent], in the data of units. Source: cos_agent v0 of
// canonical/charm-relation-interfaces, and LIBPATCH 20 of the library
// grafana_agent/v0/cos_agent, which reads it.
const keyConfig = "config"

// agentConfig is its value. The reader wants all of these keys.
type agentConfig struct {
	MetricRules AlertRules        `json:"metrics_alert_rules"`
	LogRules    map[string]string `json:"log_alert_rules"`
	Dashboards  []string          `json:"dashboards"`
	Jobs        []scrapeJob       `json:"metrics_scrape_jobs"`
	LogSlots    []string          `json:"log_slots"`
	Tracing     []string          `json:"tracing_protocols"`
}

// COSAgentDatabag is what a unit publishes on [COSAgent]: the agent is on the same
// machine, so the job is at localhost. Without an exporter there is nothing to tell.
// Dashboards are encoded as monitoring.Dashboards does.
func COSAgentDatabag(t Topology, installed bool, rules AlertRules, dashboards []string) map[string]string {
	if !installed {
		return map[string]string{keyConfig: ""}
	}
	return map[string]string{keyConfig: marshal(agentConfig{
		MetricRules: rules,
		LogRules:    map[string]string{},
		Dashboards:  dashboards,
		// The agent may serve several applications of the machine.
		Jobs:     exporter(t.App+"_"+exporterJob, "localhost"),
		LogSlots: []string{},
		Tracing:  []string{},
	})}
}
