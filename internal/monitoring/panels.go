package monitoring

// board is the dashboard: rows of panels, by subject. In expressions, $S represents the matchers of what the dashboard's
// variables select.
var board = []row{
	{title: "Clusters", panels: []panel{
		{
			title: "Fault tolerance", kind: stat, steps: atLeast(1), page: "reference/findings.html#member-down",
			about:   "How many more members may fail before nothing can be written.",
			queries: []query{{`max by (juju_application, database) (ovn_central_fault_tolerance{$S})`, "{{juju_application}} {{database}}"}},
		},
		{
			title: "Members", kind: stat, page: "how-to/kick-a-stale-member.html", about: "Members that are up, and all, with those that are down or stale.",
			queries: []query{
				{`max by (juju_application, database) (ovn_central_members_up{$S})`, "{{juju_application}} {{database}} up"},
				{`max by (juju_application, database) (ovn_central_members{$S})`, "{{juju_application}} {{database}} all"},
			},
		},
		{
			title: "Agents that answer", kind: stat, steps: atLeast(1), page: "reference/findings.html#agent-failed",
			about:   "0 for an agent from which Prometheus gets no answer: its unit is missing in all other panels.",
			queries: []query{{`max by (juju_unit) (up{$S,job=~".*ovn-central-agent.*"})`, "{{juju_unit}}"}},
		},
		{
			title: "Findings", kind: table, about: "What is wrong, or worth knowing. A code leads to its meaning and to what to do.", page: findingsPage,
			queries: []query{{`max by (juju_unit, severity, code, subject) (ovn_central_finding{$S})`, ""}},
		},
		{
			title: "Role", kind: timeline, about: "Which member leads each database.", values: map[string]shown{"1": {"follower", blue}, "2": {"candidate", orange}, "3": {"leader", green}},
			queries: []query{{
				`sum by (juju_unit, database) (ovn_central_member_role{$S,role="follower"} or 2 * ovn_central_member_role{$S,role="candidate"} or 3 * ovn_central_member_role{$S,role="leader"})`,
				"{{juju_unit}} {{database}}",
			}},
		},
		{
			title: "Follows a leader", kind: timeline, about: "A member without a leader is cut off, or there is no quorum.", page: "reference/findings.html#cut-off", values: yesNo,
			queries: []query{{`ovn_central_member_has_leader{$S}`, "{{juju_unit}} {{database}}"}},
		},
		{
			title: "Elections", kind: series, about: "By how much the term has risen in 15 minutes.", page: "how-to/change-the-election-timer.html",
			queries: []query{{`max by (juju_application, database) (increase(ovn_central_raft_term{$S}[15m]))`, "{{juju_application}} {{database}}"}},
		},
		{
			title: "Entries behind the leader", kind: series, about: "What a member has not stored yet of the leader's log.", page: "reference/findings.html#member-down",
			queries: []query{{`max by (juju_application, database, unit, member) (ovn_central_raft_behind_entries{$S})`, "{{database}} {{unit}} {{member}}"}},
		},
		{
			title: "Entries that wait", kind: series, about: "Not committed, or not applied.", page: "reference/findings.html#server-silent",
			queries: []query{
				{`ovn_central_raft_uncommitted_entries{$S}`, "{{juju_unit}} {{database}} not committed"},
				{`ovn_central_raft_unapplied_entries{$S}`, "{{juju_unit}} {{database}} not applied"},
			},
		},
	}},
	{title: "ovn-northd and its lag", panels: []panel{
		{
			title: "Active", kind: stat, steps: atLeast(1), about: "How many ovn-northd are active: one is right.", page: "reference/findings.html#northd-none-active",
			queries: []query{{`sum by (juju_application) (ovn_central_northd_active{$S})`, "{{juju_application}}"}},
		},
		{
			title: "State", kind: timeline, page: "reference/findings.html#northd-down", about: "Of each unit's ovn-northd, by its own answer.",
			values:  map[string]shown{"0": {"does not work", red}, "1": {"standby", blue}, "2": {"active", green}},
			queries: []query{{`ovn_central_northd_works{$S} + ovn_central_northd_active{$S}`, "{{juju_unit}}"}},
		},
		{
			title: "Has stood still for", kind: series, unit: "s", about: "For how long ovn-northd has not moved although it was asked.", page: "reference/findings.html#northd-behind",
			queries: []query{{`min by (juju_application) (ovn_central_northd_behind_seconds{$S})`, "{{juju_application}}"}},
		},
		{
			title: "nb_cfg against sb_cfg", kind: series, about: "By how many requests ovn-northd is behind.", page: "reference/findings.html#northd-behind",
			queries: []query{{
				`max by (juju_application) (ovn_central_nb_cfg{$S,database="nb"}) - max by (juju_application) (ovn_central_nb_cfg{$S,database="sb"})`, "{{juju_application}}",
			}},
		},
	}},
	{title: "Gateways and nodes", panels: []panel{
		{
			title: "Unit that acts", kind: stat, names: true, about: "Which unit's agent holds the lease.", page: "explanation/one-unit-acts.html",
			queries: []query{{`max by (juju_application, unit) (ovn_central_lease_holder{$S})`, "{{unit}}"}},
		},
		{
			title: "Acts", kind: timeline, about: "Which unit has acted when.", page: "explanation/one-unit-acts.html", values: yesNo,
			queries: []query{{`ovn_central_lease_acts{$S}`, "{{juju_unit}}"}},
		},
		{
			title: "Gateways", kind: series, about: "All, and those with a condition; gateway-status names them.", page: "how-to/spread-gateways.html",
			queries: []query{
				{`max by (juju_application) (ovn_central_gateways{$S})`, "all"},
				{`max by (juju_application, finding) (ovn_central_gateways_by_finding{$S})`, "{{finding}}"},
				{`max by (juju_application) (ovn_central_gateways_to_schedule{$S})`, "to be scheduled"},
			},
		},
		{
			title: "Chassis", kind: series, about: "By what they are.", page: "how-to/take-a-node-out.html",
			queries: []query{{`max by (juju_application, state) (ovn_central_chassis{$S})`, "{{state}}"}},
		},
		{
			title: "Drains", kind: series, about: "Nodes that are being drained, and how many gateways still have to leave each.", page: "how-to/take-a-node-out.html",
			queries: []query{
				{`max by (juju_application, state) (ovn_central_drains{$S})`, "{{state}}"},
				{`max by (juju_application, node) (ovn_central_drain_gateways{$S})`, "left on {{node}}"},
			},
		},
		{
			title: "Changes by agents", kind: series, about: "Candidates that were changed in an hour, and changes that are held down.", page: "reference/agent.html",
			queries: []query{
				{`sum by (juju_application, reason) (increase(ovn_central_candidates_changed_total{$S}[1h]))`, "{{reason}}"},
				{`max by (juju_application) (ovn_central_held_down{$S})`, "held down"},
			},
		},
	}},
	{title: "Databases and disk", panels: []panel{
		{
			title: "Size of the files", kind: series, unit: "bytes", about: "Of each unit's database files.", page: "reference/findings.html#file-overgrown",
			queries: []query{{`ovn_central_database_file_bytes{$S}`, "{{juju_unit}} {{database}}"}},
		},
		{
			title: "Growth since the last compaction", kind: series, unit: "bytes", about: "A server compacts a file by itself at twice the size.", page: "reference/findings.html#file-overgrown",
			queries: []query{{`ovn_central_database_file_grown_bytes{$S}`, "{{juju_unit}} {{database}}"}},
		},
		{
			title: "Free space", kind: series, unit: "bytes", about: "On the disk with the database files.", page: "reference/findings.html#disk-full",
			queries: []query{{`ovn_central_disk_free_bytes{$S}`, "{{juju_unit}}"}},
		},
		{
			title: "Longest silence", kind: series, unit: "s", about: "The longest time in the last hour in which a server answered neither clients nor members.", page: "reference/findings.html#server-silent",
			queries: []query{{`ovn_central_server_longest_poll_seconds{$S}`, "{{juju_unit}} {{database}}"}},
		},
		{
			title: "Clients", kind: series, about: "Connections from the network to each server.", page: "reference/ports.html",
			queries: []query{{`ovn_central_server_clients{$S}`, "{{juju_unit}} {{database}}"}},
		},
	}},
	{title: "Certificates and backups", panels: []panel{
		{
			title: "Certificates expire in", kind: stat, unit: "s", steps: atLeast(3*day, 30*day), about: "The unit's certificate, and the last one of its CA file.", page: "how-to/rotate-certificates.html",
			queries: []query{{`min by (juju_unit, certificate) (ovn_central_certificate_expiry_timestamp_seconds{$S} - time())`, "{{juju_unit}} {{certificate}}"}},
		},
		{
			title: "Age of the newest backup", kind: stat, unit: "s", about: "Of units with backup-interval.", page: "how-to/back-up.html",
			queries: []query{{`max by (juju_unit) (time() - ovn_central_backup_newest_timestamp_seconds{$S})`, "{{juju_unit}}"}},
		},
		{
			title: "Last backup failed", kind: timeline, about: "1 if it did, or can't be looked for.", page: "how-to/back-up.html",
			values:  map[string]shown{"0": {"no", green}, "1": {"yes", red}},
			queries: []query{{`ovn_central_backup_failed{$S}`, "{{juju_unit}}"}},
		},
		{
			title: "Last hook ended", kind: stat, unit: "s", about: "Findings that only hooks see are as old.", page: "how-to/find-the-cause.html",
			queries: []query{{`max by (juju_unit) (time() - ovn_central_last_hook_timestamp_seconds{$S})`, "{{juju_unit}}"}},
		},
		{
			title: "Clocks", kind: series, unit: "s", about: "By how much units' clocks differ: certificates need them.", page: "how-to/rotate-certificates.html",
			queries: []query{{`max by (juju_unit) (abs(ovn_central_agent_peer_clock_ahead_seconds{$S}))`, "{{juju_unit}}"}},
		},
	}},
	{title: "Snap prometheus-ovn-exporter, if it is installed", collapsed: true, panels: []panel{
		{
			title: "Memory of the servers by use", kind: series, about: "As memory/show of the servers has it; each facility in its own unit.",
			queries: []query{{`ovn_memory_usage{$S,component=~"ovsdb-server-.*"}`, "{{juju_unit}} {{component}} {{facility}}"}},
		},
	}},
}
