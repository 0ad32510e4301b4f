package agent

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// maxScrapes bounds scrapes at once.
const maxScrapes = 4

var (
	holderMetric = prometheus.NewDesc("ovn_central_lease_holder",
		"1 for the unit that acts; no series where that is not known.", []string{"unit"}, nil)
	actsMetric = prometheus.NewDesc("ovn_central_lease_acts",
		"1 where this unit acts, else 0.", nil, nil)
	takesPartMetric = prometheus.NewDesc("ovn_central_agent_takes_part",
		"1 where this agent may hold the lease, 0 with the mode off.", nil, nil)
	termMetric = prometheus.NewDesc("ovn_central_lease_term",
		"Term of the lease as last seen; one higher each time it is taken.", nil, nil)
	heldMetric = prometheus.NewDesc("ovn_central_lease_held_seconds",
		"Seconds for which this agent has seen the holder that it saw last.", nil, nil)
	changesMetric = prometheus.NewDesc("ovn_central_lease_changes_total",
		"How often this agent has seen another unit take over.", nil, nil)
	databaseMetric = prometheus.NewDesc("ovn_central_agent_database_usable",
		"1 where the agent can use the database, else 0.", []string{"database"}, nil)
	peerMetric = prometheus.NewDesc("ovn_central_agent_peer_answered_seconds",
		"How many seconds ago another agent was last asked and answered; no series where it never has.", []string{"peer"}, nil)
	clockMetric = prometheus.NewDesc("ovn_central_agent_peer_clock_ahead_seconds",
		"By how many seconds another agent's clock is ahead of this one's at least, negative where it is behind; no series where it never answered.", []string{"peer"}, nil)
	lookMetric = prometheus.NewDesc("ovn_central_agent_last_look_seconds",
		"Seconds since the agent's loop last ran.", nil, nil)
	gatewaysMetric = prometheus.NewDesc("ovn_central_gateways",
		"Gateways that the agent sees.", nil, nil)
	chassisMetric = prometheus.NewDesc("ovn_central_chassis",
		"Chassis that the agent sees, by what they are: gateway, unresponsive, cordoned, other.", []string{"state"}, nil)
	plannedMetric = prometheus.NewDesc("ovn_central_gateways_to_schedule",
		"Gateways that should have other candidates and have them not yet.", nil, nil)
	advisedMetric = prometheus.NewDesc("ovn_central_gateways_to_schedule_seconds",
		"For how many seconds there have been such gateways; 0 where there are none.", nil, nil)
	heldDownMetric = prometheus.NewDesc("ovn_central_held_down",
		"Chassis and gateways whose change is held down.", nil, nil)
	orphansMetric = prometheus.NewDesc("ovn_central_orphans",
		"Orphans: Chassis without Chassis_Private or the reverse, candidates without a chassis, down members without a unit, runs of agents that are gone.", nil, nil)
	membersMetric = prometheus.NewDesc("ovn_central_members",
		"Members of the database's cluster, as this unit's server has them; no series where it is not a member.", []string{"database"}, nil)
	membersUpMetric = prometheus.NewDesc("ovn_central_members_up",
		"Members that are up, by rule R0.", []string{"database"}, nil)
	toleranceMetric = prometheus.NewDesc("ovn_central_fault_tolerance",
		"How many more members may fail; below 0 there is no quorum.", []string{"database"}, nil)
	rowsMetric = prometheus.NewDesc("ovn_central_candidates_changed_total",
		"Candidates of gateways that this agent has changed: of one that was unhosted or incomplete, replaced, or of another rank.", []string{"reason"}, nil)
	conditionsMetric = prometheus.NewDesc("ovn_central_gateways_by_finding",
		"Gateways by finding; one gateway may count under several.", []string{"finding"}, nil)
	gatewayLookMetric = prometheus.NewDesc("ovn_central_gateways_last_look_seconds",
		"Seconds since chassis and gateways were last read; no series where they never were.", nil, nil)
	drainsMetric = prometheus.NewDesc("ovn_central_drains",
		"Nodes that are being drained, as the agent that acts sees them: running, stalled for 5 minutes, or done.", []string{"state"}, nil)
	drainLeftMetric = prometheus.NewDesc("ovn_central_drain_gateways",
		"Gateways that still have to leave the node, or have nowhere to go.", []string{"node"}, nil)
	backupIntervalMetric = prometheus.NewDesc("ovn_central_backup_interval_seconds",
		"Seconds from one backup of this unit to the next; no series of backups where none are scheduled.", nil, nil)
	backupNewestMetric = prometheus.NewDesc("ovn_central_backup_newest_timestamp_seconds",
		"When the newest backup of this unit was taken, in seconds since 1970; 0 where there is none.", nil, nil)
	backupFailedMetric = prometheus.NewDesc("ovn_central_backup_failed",
		"1 if the last backup of this unit failed or can't be looked for, else 0.", nil, nil)
	buildMetric = prometheus.NewDesc("ovn_central_build_info",
		"1, with the version of the program.", []string{"version"}, nil)
)

// metrics gives what the agent knows to Prometheus.
type metrics struct{ agent *Agent }

// metricsHandler serves them, and nothing else: the library's own numbers of other programs
// stay out.
func (a *Agent) metricsHandler() http.Handler {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics{a}, serverMetrics{a.paths})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, DisableCompression: true})
}

// Describe implements [prometheus.Collector].
func (metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		holderMetric, actsMetric, termMetric, heldMetric, changesMetric, databaseMetric, peerMetric, clockMetric, lookMetric, buildMetric,
		takesPartMetric, gatewaysMetric, chassisMetric, plannedMetric, advisedMetric, heldDownMetric, orphansMetric, membersMetric, membersUpMetric, toleranceMetric, rowsMetric, conditionsMetric, gatewayLookMetric,
		drainsMetric, drainLeftMetric,
		backupIntervalMetric, backupNewestMetric, backupFailedMetric,
	} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (m metrics) Collect(out chan<- prometheus.Metric) {
	s := m.agent.status()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if s.Acting != "" {
		gauge(holderMetric, 1, s.Acting)
	}
	gauge(actsMetric, oneIf(s.Acts))
	gauge(takesPartMetric, oneIf(s.Mode != config.Off))
	gauge(termMetric, float64(s.Term))
	gauge(heldMetric, s.HeldSeconds)
	out <- prometheus.MustNewConstMetric(changesMetric, prometheus.CounterValue, float64(s.Changes))
	gauge(databaseMetric, oneIf(s.Northbound == ""), "nb")
	gauge(databaseMetric, oneIf(s.Southbound == ""), "sb")
	for _, p := range s.Peers {
		if p.AnsweredSecondsAgo >= 0 {
			gauge(peerMetric, p.AnsweredSecondsAgo, p.Address)
			gauge(clockMetric, p.ClockAheadSeconds, p.Address)
		}
	}
	gauge(lookMetric, (m.agent.now() - time.Duration(m.agent.turned.Load())).Seconds())
	gauge(buildMetric, 1, version.Version)
	g := s.Gateways
	gauge(plannedMetric, float64(g.Planned))
	gauge(advisedMetric, g.AdvisedSeconds)
	gauge(heldDownMetric, float64(len(g.HeldDown)))
	seen, _ := m.agent.clusters.latest(m.agent.now())
	gauge(orphansMetric, float64(len(g.Orphans)+len(staleMembers(seen))))
	for _, c := range seen.Clusters {
		if c.Condition == ovndb.Serving && c.Status.State != raft.JoiningCluster {
			name := c.Database.Short()
			gauge(membersMetric, float64(c.Quorum.Members), name)
			gauge(membersUpMetric, float64(c.Quorum.Up), name)
			gauge(toleranceMetric, float64(c.Quorum.Tolerance()), name)
		}
	}
	if g.LookedSecondsAgo >= 0 {
		gauge(gatewayLookMetric, g.LookedSecondsAgo)
		gauge(gatewaysMetric, float64(g.Gateways))
	}
	states := map[string]int{"running": 0, "stalled": 0, "done": 0}
	for _, d := range s.Drains {
		states[d.State()]++
		gauge(drainLeftMetric, float64(d.Gateways), d.Chassis)
	}
	for state, n := range states {
		gauge(drainsMetric, float64(n), state)
	}
	if c := m.agent.live(); c.BackupInterval > 0 {
		found, err := backup.Observe(c.Backups)
		gauge(backupIntervalMetric, c.BackupInterval.Seconds())
		gauge(backupNewestMetric, seconds(found.Newest))
		gauge(backupFailedMetric, oneIf(err != nil || found.Failure != ""))
	}
	counts, ok := m.agent.gateways.counts()
	if !ok {
		return
	}
	for state, n := range counts.chassis {
		gauge(chassisMetric, float64(n), state)
	}
	for finding, n := range counts.conditions {
		gauge(conditionsMetric, float64(n), string(finding))
	}
	for reason, n := range counts.changed {
		out <- prometheus.MustNewConstMetric(rowsMetric, prometheus.CounterValue, float64(n), string(reason))
	}
}

// seconds since 1970; 0 where there is no time.
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
