package agent

import (
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

// maxScrapes limits concurrent scrapes.
const maxScrapes = 4

// metrics exports the agent's state to Prometheus.
type metrics struct{ agent *Agent }

// metricsHandler serves these metrics only, without those of the Go runtime.
func (a *Agent) metricsHandler() http.Handler {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics{a})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, DisableCompression: true})
}

// Describe implements [prometheus.Collector]. It sends nothing: the series depend on the agent's state.
func (metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. It omits the values of silent sources: an old value would look current.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	gauge, counter := of(out, prometheus.GaugeValue), of(out, prometheus.CounterValue)
	s, now := m.agent.status(), m.agent.now()
	last := m.agent.clusters.fresh(now, 2*(clusterPause+clusterTimeout)) // unless an observation is overdue
	seen, northd := last.report, last.northd
	gauge("ovn_central_build_info", "1, with the version of the program.", 1, "version", version.Version)
	gauge("ovn_central_agent_last_look_seconds", "Seconds since the agent's loop last ran.",
		(now - time.Duration(m.agent.stepped.Load())).Seconds())
	sendLease(gauge, counter, s)
	for _, c := range seen.Clusters {
		if c.Condition != ovndb.Absent && c.Condition != ovndb.Former {
			sendCluster(gauge, c)
		}
	}
	if northd != "" {
		gauge("ovn_central_northd_works", "1 if this unit's ovn-northd answers and is connected to both databases, "+
			"active or standby, else 0; absent if none should run here.", oneIf(northd.Works()))
		gauge("ovn_central_northd_active", "1 if this unit's ovn-northd is the active one, else 0.",
			oneIf(northd == ovndb.NorthdActive))
	}
	m.sendServers(gauge)
	m.sendUnit(gauge)
	counts, known := m.agent.gateways.counts()
	known = known && s.Northbound == "" && s.Southbound == "" && s.Gateways.Error == ""
	m.sendFindings(gauge, m.agent.findings(seen, counts.conditions, known))
	if known {
		m.sendGateways(gauge, counter, s, counts)
		gauge("ovn_central_orphans", "Orphans: Chassis without Chassis_Private or the reverse, "+
			"candidates without a chassis, down members without a unit, runs of agents that are gone.",
			float64(len(s.Gateways.Orphans)+len(orphanMembers(seen))))
	}
}

func sendLease(gauge, counter send, s report.Status) {
	if s.Acting != "" {
		gauge("ovn_central_lease_holder", "1 for the unit that acts; absent if that is not known.", 1, "unit", s.Acting)
		gauge("ovn_central_lease_term",
			"Term of the lease, one higher each time it is taken; absent if the unit that acts is not known.", float64(s.Term))
		gauge("ovn_central_lease_held_seconds", "Seconds for which this agent has seen the unit that acts.", s.HeldSeconds)
	}
	gauge("ovn_central_lease_acts", "1 if this unit acts, else 0.", oneIf(s.Acts))
	gauge("ovn_central_agent_takes_part", "1 if this agent may hold the lease, 0 with the mode off.",
		oneIf(s.Mode != config.Off))
	counter("ovn_central_lease_changes_total", "How often this agent has seen another unit take over.", float64(s.Changes))
	for db, failure := range map[ovndb.Database]string{ovndb.NB: s.Northbound, ovndb.SB: s.Southbound} {
		gauge("ovn_central_agent_database_usable", "1 if the agent can use the database, else 0.", oneIf(failure == ""),
			"database", db.Short())
	}
	for _, p := range s.Peers {
		if p.AnsweredSecondsAgo >= 0 {
			gauge("ovn_central_agent_peer_answered_seconds", "How many seconds ago another agent was last asked and answered; "+
				"absent if it never has.", p.AnsweredSecondsAgo, "peer", p.Address)
			if p.Error == "" {
				gauge("ovn_central_agent_peer_clock_ahead_seconds", "By how many seconds another agent's clock is ahead of this "+
					"one's at least, negative if it is behind; absent if it does not answer.", p.ClockAheadSeconds, "peer", p.Address)
			}
		}
	}
}

// sendCluster sends the state of a cluster, as this unit's server sees it.
func sendCluster(gauge send, c observe.Cluster) {
	gauge, s := gauge.with("database", c.Database.Short()), c.Status
	gauge("ovn_central_server_up", "1 if this unit's server of the database answers as a cluster's member, "+
		"also while it joins or leaves, or serves a database that is not clustered; else 0.",
		oneIf(c.Condition == ovndb.Serving || c.ServesStandalone()))
	if c.Condition != ovndb.Serving {
		return
	}
	for _, role := range []raft.Role{raft.Leader, raft.Candidate, raft.Follower} {
		gauge("ovn_central_member_role", "1 for the role of this unit's member, 0 for the other roles.",
			oneIf(s.Role == role), "role", string(role))
	}
	gauge("ovn_central_member_has_leader", "1 if this unit's member leads or follows a leader, "+
		"0 if it is without a quorum, joins or leaves.", oneIf(s.MemberWithLeader()))
	gauge("ovn_central_raft_term", "Raft term of this unit's member; each election has a new one.", float64(s.Term))
	gauge("ovn_central_raft_election_timer_seconds", "Election timer of the cluster.", s.ElectionTimer.Seconds())
	gauge("ovn_central_raft_uncommitted_entries", "Entries of this member's log that a majority has not stored yet.",
		float64(s.NotCommitted))
	gauge("ovn_central_raft_unapplied_entries", "Entries of this member's log that its database does not show yet.",
		float64(s.NotApplied))
	if s.State != raft.JoiningCluster {
		gauge("ovn_central_members", "Members of the database's cluster, as this unit's server has them; "+
			"absent if it is not a member.", float64(c.Quorum.Members))
		gauge("ovn_central_members_up", "Members that are up, by rule R0.", float64(c.Quorum.Up))
		gauge("ovn_central_fault_tolerance", "How many more members may fail; below 0 there is no quorum.",
			float64(c.Quorum.Tolerance()))
	}
	if s.Cluster != "" {
		gauge("ovn_central_member_info", "1, with the IDs of this unit's member and of its cluster.", 1,
			"cluster", string(s.Cluster), "server", string(s.Server))
	}
	for _, row := range c.Rows {
		switch {
		case row.Self && row.Clients != nil:
			gauge("ovn_central_server_clients", "Connections from the network to this unit's server.", float64(*row.Clients))
		case s.Role == raft.Leader && !row.Self && row.Match != nil:
			behind := max(int64(s.Log.End)-1-int64(*row.Match), 0) //nolint:gosec // no log has so many entries
			gauge("ovn_central_raft_behind_entries", "By how many entries another member is behind this "+
				"one; only from the leader.", float64(behind), "member", row.Short, "unit", row.Owner.Unit)
		}
	}
}

// sendFindings sends the agent's findings and those of the unit's last hook, with the time of that hook.
func (m metrics) sendFindings(gauge send, all []present.Document) {
	sent := map[[3]string]bool{} // two series with the same labels would fail the whole scrape
	for _, f := range all {
		labels := [3]string{f.Code, f.Severity, f.Subject}
		if sent[labels] {
			continue
		}
		sent[labels] = true
		gauge("ovn_central_finding", "1 for each finding, by its code in the page of findings: "+
			"what this unit's agent sees of the clusters, and what the unit's last hook has found.", 1, "code", f.Code,
			"severity", f.Severity, "subject", f.Subject)
	}
	if file, err := os.Stat(m.agent.paths.Findings()); err == nil {
		gauge("ovn_central_last_hook_timestamp_seconds",
			"When the unit's last hook stored its findings, in seconds since 1970; absent if none has.", seconds(file.ModTime()))
	}
}

// sendUnit sends the state of the unit's certificates and backups.
func (m metrics) sendUnit(gauge send) {
	c := m.agent.live()
	expiry := map[string]time.Time{}
	if first, _, err := tls.Expiry(c.Certificate); err == nil {
		expiry["unit"] = first
	}
	if _, last, err := tls.Expiry(c.CA); err == nil {
		expiry["ca"] = last
	}
	for name, at := range expiry {
		gauge("ovn_central_certificate_expiry_timestamp_seconds", "When the unit's certificate, "+
			"or the last one of its CA file, expires, in seconds since 1970; absent if it can't be read.", seconds(at),
			"certificate", name)
	}
	if c.BackupInterval == 0 {
		return
	}
	found, err := backup.Observe(c.Backups)
	gauge("ovn_central_backup_interval_seconds",
		"Seconds from one backup of this unit to the next; absent if none are scheduled.", c.BackupInterval.Seconds())
	gauge("ovn_central_backup_failed", "1 if the last backup of this unit failed or can't be looked for, else 0.",
		oneIf(err != nil || found.Failure != ""))
	if !found.Newest.IsZero() {
		gauge("ovn_central_backup_newest_timestamp_seconds", "When the newest backup of this unit was taken, "+
			"in seconds since 1970; absent if there is no backup.", seconds(found.Newest))
	}
}

// sendGateways sends the results of the agent's last pass over both databases.
func (m metrics) sendGateways(gauge, counter send, s report.Status, counts counts) {
	g := s.Gateways
	gauge("ovn_central_gateways_last_look_seconds", "Seconds since chassis and gateways were last read, "+
		"which happens when one changes and every half minute; absent with all that was read if a database can't be used.",
		g.LookedSecondsAgo)
	gauge("ovn_central_gateways", "Gateways that the agent sees.", float64(g.Gateways))
	gauge("ovn_central_gateways_to_schedule", "Gateways that should have other candidates and have not been changed yet.",
		float64(g.Planned))
	gauge("ovn_central_gateways_to_schedule_seconds",
		"Seconds since the first of the gateways should have changed; 0 if none should.", g.AdvisedSeconds)
	gauge("ovn_central_held_down", "Chassis and gateways whose change is held down.", float64(len(g.HeldDown)))
	states := map[string]int{"running": 0, "stalled": 0, "done": 0}
	for _, d := range s.Drains {
		states[d.State()]++
		gauge("ovn_central_drain_gateways", "Gateways that still have to leave the node, or have nowhere to go.",
			float64(d.Gateways), "node", d.Chassis)
	}
	for state, n := range states {
		gauge("ovn_central_drains", "Nodes that are being drained, as the agent that acts sees them: "+
			"running, stalled for 5 minutes, or done.", float64(n), "state", state)
	}
	for db, number := range map[ovndb.Database]int64{ovndb.NB: counts.northd.asked, ovndb.SB: counts.northd.done} {
		gauge("ovn_central_nb_cfg", "Number nb_cfg in the Global row of each database: "+
			"clients raise that of nb, and ovn-northd copies it to sb once it has done what was asked before.", float64(number),
			"database", db.Short())
	}
	gauge("ovn_central_northd_behind_seconds", "For how many seconds the number of sb has stood still below that of nb; "+
		"0 if ovn-northd keeps up.", counts.northd.behind(m.agent.now()).Seconds())
	for state, n := range counts.chassis {
		gauge("ovn_central_chassis", "Chassis that the agent sees, by what they are: gateway, unresponsive, cordoned, other.",
			float64(n), "state", state)
	}
	for finding, n := range counts.conditions {
		gauge("ovn_central_gateways_by_finding", "Gateways by finding; one gateway may count under several.", float64(n),
			"finding", string(finding))
	}
	for reason, n := range counts.changed {
		counter("ovn_central_candidates_changed_total", "Candidates of gateways that this agent has changed: "+
			"of an unhosted or incomplete gateway, replaced, or of another rank.", float64(n), "reason", string(reason))
	}
}

// send sends one metric. labels are names, each followed by its value.
type send func(name, help string, value float64, labels ...string)

// with returns a function that adds these labels.
func (s send) with(labels ...string) send {
	return func(name, help string, value float64, more ...string) {
		s(name, help, value, slices.Concat(labels, more)...)
	}
}

// of returns a function that sends metrics of one type.
func of(out chan<- prometheus.Metric, kind prometheus.ValueType) send {
	return func(name, help string, value float64, labels ...string) {
		var names, values []string
		for label := range slices.Chunk(labels, 2) {
			names, values = append(names, label[0]), append(values, label[1])
		}
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
}

func seconds(t time.Time) float64 { return float64(t.Unix()) }

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// seenByAgent has the codes of findings that need no data of Juju. The agent finds these itself, more often than a
// hook.
var seenByAgent = []finding.Code{
	finding.NoQuorum, finding.CutOff, finding.Electing, finding.MajorityUnseen, finding.MemberDown, finding.PortsClosed,
}

// findings returns the agent's findings about the clusters and, if they are known, the gateways; and the other findings
// of the unit's last hook.
func (a *Agent) findings(seen observe.Report, gateways map[finding.Code]int, known bool) []present.Document {
	byAgent := func(code string) bool { return slices.Contains(seenByAgent, finding.Code(code)) }
	all, err := present.Load(a.paths.Findings())
	if err != nil {
		a.log.Warn("cannot read what the last hook has found", "error", err)
	}
	all = slices.DeleteFunc(all, func(d present.Document) bool {
		_, own := gateways[finding.Code(d.Code)]
		return known && own
	})
	if known { // one finding for each code, however many gateways have it
		for code, n := range gateways {
			if n > 0 {
				all = append(all, present.Documents(juju.Version{},
					[]finding.Finding{finding.New(code, finding.Subject{}, finding.Args{})})...)
			}
		}
	}
	if len(seen.Clusters) == 0 {
		return all
	}
	all = slices.DeleteFunc(all, func(d present.Document) bool { return byAgent(d.Code) })
	own := slices.DeleteFunc(present.Documents(juju.Version{}, status.Clusters(seen)), func(d present.Document) bool {
		return !byAgent(d.Code)
	})
	return append(all, own...)
}

// longPollWindow is the length of the part of a server's log that is read.
const longPollWindow = time.Hour

// sendServers sends metrics of this machine's database servers and their files. The machine may have no server, or the
// agent may be unable to read the files.
func (m metrics) sendServers(gauge send) {
	paths := m.agent.paths
	if free, err := machine.FreeSpace(paths.DB); err == nil {
		gauge("ovn_central_disk_free_bytes", "Free space of the file system that has the database files.", float64(free))
	}
	for _, db := range ovndb.Databases() {
		gauge := gauge.with("database", db.Short())
		file, err := raftfile.ReadStorage(paths, db)
		if err != nil {
			continue
		}
		gauge("ovn_central_database_file_bytes", "Size of the database file of this machine's server; "+
			"absent if there is no file.", float64(file.Size))
		gauge("ovn_central_database_file_grown_bytes", "By how much the file has grown since it was last compacted.",
			float64(file.Grown()))
		now := wall()
		if !file.Written.IsZero() {
			gauge("ovn_central_database_file_compacted_seconds", "Seconds since the file was last compacted, or made; "+
				"absent if the file system does not record that.", max(now.Sub(file.Written).Seconds(), 0))
		}
		if polls, err := ovsctl.ReadLongPolls(paths, db, now.Add(-longPollWindow)); err == nil {
			gauge("ovn_central_server_long_polls", "How often in the last hour the server did not respond for a "+
				"second or more, by its log.", float64(polls.Count))
			gauge("ovn_central_server_longest_poll_seconds", "The longest of these, in seconds.", polls.Longest.Seconds())
		}
	}
}
