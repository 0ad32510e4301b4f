package relation

import "fmt"

// keyConfig is the key on [COSAgent], in the data of units. Source: cos_agent v0 of
// canonical/charm-relation-interfaces, and LIBPATCH 20 of the library
// grafana_agent/v0/cos_agent, which reads it.
const keyConfig = "config"

// agentConfig is its value. The reader requires all of these keys.
type agentConfig struct {
	MetricRules AlertRules  `json:"metrics_alert_rules"`
	LogRules    AlertRules  `json:"log_alert_rules"`
	Dashboards  []string    `json:"dashboards"`
	Jobs        []scrapeJob `json:"metrics_scrape_jobs"`
	LogSlots    []string    `json:"log_slots"`
	Tracing     []string    `json:"tracing_protocols"`
}

// agentJob is the job of the unit's own agent.
const agentJob = "ovn-central-agent"

// COSAgentDatabag is what a unit publishes on [COSAgent]. That agent is on the same machine, so the jobs are at
// localhost: the exporter's if it is installed, and that of the unit's own agent if it has a port. Without both it is
// empty. logs are rules for Loki: that agent sends it all that is below /var/log, where OVN's servers log. Dashboards
// are encoded as monitoring.Dashboards does.
func COSAgentDatabag(
	t Topology, installed bool, port uint16, rules, logs AlertRules, dashboards []string,
) map[string]string {
	// The agent may serve several applications of the machine.
	jobs := []scrapeJob{}
	if installed {
		jobs = append(jobs, job(t.App+"_"+exporterJob, "localhost:"+exporterPort))
	}
	if port != 0 {
		jobs = append(jobs, job(t.App+"_"+agentJob, fmt.Sprintf("localhost:%d", port)))
	}
	if len(jobs) == 0 {
		return map[string]string{keyConfig: ""}
	}
	return map[string]string{keyConfig: marshal(agentConfig{
		MetricRules: rules,
		LogRules:    logs,
		Dashboards:  dashboards,
		Jobs:        jobs,
		LogSlots:    []string{},
		Tracing:     []string{},
	})}
}
