package agent

import (
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// maxScrapes limits concurrent scrapes.
const maxScrapes = 4

// metrics exports the agent's state to Prometheus.
type metrics struct{ agent *Agent }

// metricsHandler serves these metrics only, without those of the Go runtime.
func (a *Agent) metricsHandler() http.Handler {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics{a}, serverMetrics{a.paths})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, DisableCompression: true})
}

// Describe implements [prometheus.Collector]. It sends nothing: the series depend on the agent's state.
func (metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m metrics) Collect(out chan<- prometheus.Metric) {
	s := m.agent.status()
	gauge, counter := of(out, prometheus.GaugeValue), of(out, prometheus.CounterValue)
	if s.Acting != "" {
		gauge("ovn_central_lease_holder", "1 for the unit that acts; absent if that is not known.", 1, "unit", s.Acting)
	}
	gauge("ovn_central_lease_acts", "1 if this unit acts, else 0.", oneIf(s.Acts))
	gauge("ovn_central_agent_takes_part", "1 if this agent may hold the lease, 0 with the mode off.", oneIf(s.Mode != config.Off))
	gauge("ovn_central_lease_term", "Term of the lease as last seen; one higher each time it is taken.", float64(s.Term))
	gauge("ovn_central_lease_held_seconds", "Seconds for which this agent has seen the holder that it saw last.", s.HeldSeconds)
	counter("ovn_central_lease_changes_total", "How often this agent has seen another unit take over.", float64(s.Changes))
	for db, failure := range map[ovndb.Database]string{ovndb.NB: s.Northbound, ovndb.SB: s.Southbound} {
		gauge("ovn_central_agent_database_usable", "1 if the agent can use the database, else 0.", oneIf(failure == ""), "database", db.Short())
	}
	for _, p := range s.Peers {
		if p.AnsweredSecondsAgo >= 0 {
			gauge("ovn_central_agent_peer_answered_seconds", "How many seconds ago another agent was last asked and answered; absent if it never has.", p.AnsweredSecondsAgo, "peer", p.Address)
			gauge("ovn_central_agent_peer_clock_ahead_seconds", "By how many seconds another agent's clock is ahead of this one's at least, negative if it is behind; absent if it never answered.", p.ClockAheadSeconds, "peer", p.Address)
		}
	}
	gauge("ovn_central_agent_last_look_seconds", "Seconds since the agent's loop last ran.", (m.agent.now() - time.Duration(m.agent.stepped.Load())).Seconds())
	gauge("ovn_central_build_info", "1, with the version of the program.", 1, "version", version.Version)
	g := s.Gateways
	gauge("ovn_central_gateways_to_schedule", "Gateways that should have other candidates and have not been changed yet.", float64(g.Planned))
	gauge("ovn_central_gateways_to_schedule_seconds", "For how many seconds there have been such gateways; 0 if there are none.", g.AdvisedSeconds)
	gauge("ovn_central_held_down", "Chassis and gateways whose change is held down.", float64(len(g.HeldDown)))
	seen, _ := m.agent.clusters.latest(m.agent.now())
	gauge("ovn_central_orphans", "Orphans: Chassis without Chassis_Private or the reverse, candidates without a chassis, down members without a unit, runs of agents that are gone.", float64(len(g.Orphans)+len(staleMembers(seen))))
	for _, c := range seen.Clusters {
		if c.Condition == ovndb.Serving && c.Status.State != raft.JoiningCluster {
			name := c.Database.Short()
			gauge("ovn_central_members", "Members of the database's cluster, as this unit's server has them; absent if it is not a member.", float64(c.Quorum.Members), "database", name)
			gauge("ovn_central_members_up", "Members that are up, by rule R0.", float64(c.Quorum.Up), "database", name)
			gauge("ovn_central_fault_tolerance", "How many more members may fail; below 0 there is no quorum.", float64(c.Quorum.Tolerance()), "database", name)
		}
	}
	told := map[[3]string]bool{} // two series with the same labels would fail the whole scrape
	for _, f := range m.agent.findings(seen) {
		labels := [3]string{f.Code, f.Severity, f.Subject}
		if told[labels] {
			continue
		}
		told[labels] = true
		gauge("ovn_central_finding", "1 for each finding, by its code in the page of findings: what this unit's agent sees of the clusters, and what the unit's last hook has found.", 1, "code", f.Code, "severity", f.Severity, "subject", f.Subject)
	}
	if g.LookedSecondsAgo >= 0 {
		gauge("ovn_central_gateways_last_look_seconds", "Seconds since chassis and gateways were last read; absent if they never were.", g.LookedSecondsAgo)
		gauge("ovn_central_gateways", "Gateways that the agent sees.", float64(g.Gateways))
	}
	states := map[string]int{"running": 0, "stalled": 0, "done": 0}
	for _, d := range s.Drains {
		states[d.State()]++
		gauge("ovn_central_drain_gateways", "Gateways that still have to leave the node, or have nowhere to go.", float64(d.Gateways), "node", d.Chassis)
	}
	for state, n := range states {
		gauge("ovn_central_drains", "Nodes that are being drained, as the agent that acts sees them: running, stalled for 5 minutes, or done.", float64(n), "state", state)
	}
	if c := m.agent.live(); c.BackupInterval > 0 {
		found, err := backup.Observe(c.Backups)
		gauge("ovn_central_backup_interval_seconds", "Seconds from one backup of this unit to the next; absent if none are scheduled.", c.BackupInterval.Seconds())
		gauge("ovn_central_backup_newest_timestamp_seconds", "When the newest backup of this unit was taken, in seconds since 1970; 0 if there is none.", seconds(found.Newest))
		gauge("ovn_central_backup_failed", "1 if the last backup of this unit failed or can't be looked for, else 0.", oneIf(err != nil || found.Failure != ""))
	}
	counts, ok := m.agent.gateways.counts()
	if !ok {
		return
	}
	for state, n := range counts.chassis {
		gauge("ovn_central_chassis", "Chassis that the agent sees, by what they are: gateway, unresponsive, cordoned, other.", float64(n), "state", state)
	}
	for finding, n := range counts.conditions {
		gauge("ovn_central_gateways_by_finding", "Gateways by finding; one gateway may count under several.", float64(n), "finding", string(finding))
	}
	for reason, n := range counts.changed {
		counter("ovn_central_candidates_changed_total", "Candidates of gateways that this agent has changed: of one that was unhosted or incomplete, replaced, or of another rank.", float64(n), "reason", string(reason))
	}
}

// of returns a function that sends metrics of one type; labels are names, each followed by its value.
func of(out chan<- prometheus.Metric, kind prometheus.ValueType) func(name, help string, value float64, labels ...string) {
	return func(name, help string, value float64, labels ...string) {
		var names, values []string
		for label := range slices.Chunk(labels, 2) {
			names, values = append(names, label[0]), append(values, label[1])
		}
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
}

// seconds is the Unix time of t; 0 if t is zero.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix())
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
