package plan

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// rules are all reasons to do, or to report, something, by priority: the first one with a step decides.
var rules = slices.Concat(
	dataRules, recoveryRules, packageRules, fileRules, certificateRules, machineRules,
	clusterRules, serverRules,
	startRules, leaderRules, northdRules, upgradeRules, otherRules,
)

// What protects data comes first: it needs no packages, address or certificate, and comes before a pause. Only the
// server has the entries that its file lacks, and it may be killed at any time. The remaining space of a full disk
// may suffice.
var dataRules = []rule{
	{name: "disk is full", in: every, when: func(v *view) bool { return v.Disk != "" }, find: (*view).findFullDisk},
	{
		name: "running server's file lacks entries", in: every, each: true,
		when: func(v *view) bool { return v.runsDamaged() && v.x.RewriteFailure == "" }, step: (*view).rewrite,
		find: (*view).findDamaged,
	},
	{
		name: "file that lacks entries can't be rewritten", in: every, each: true,
		when: func(v *view) bool { return v.runsDamaged() && v.x.RewriteFailure != "" }, find: (*view).findDamaged,
	},
	{
		name: "published data is malformed", in: every, ends: every, when: func(v *view) bool { return v.Problem != "" },
		find: func(v *view) finding.Finding {
			return v.find(finding.PublishedDataInvalid, finding.Args{Detail: v.Problem})
		},
	},
}

// Recoveries: a unit that is being removed does what no other can.
var recoveryRules = slices.Concat([]rule{
	{
		name: "unit to be removed is paused", in: leaving, when: func(v *view) bool { return v.Paused },
		find: (*view).findPaused,
	},
}, given("", (*view).deployed, []rule{
	{
		name: "recovery was withdrawn", in: working | leaving, each: true,
		when: func(v *view) bool { return v.Refused[v.db].Code != "" },
		find: func(v *view) finding.Finding { return Withdrawn(v.db, v.Refused[v.db]) },
	},
	{
		name: "recovery has a step", in: working | leaving, each: true,
		when: func(v *view) bool { return v.recoveryStep().Kind != "" }, step: (*view).recoveryStep,
	},
	{
		name: "recovery waits", in: working | leaving, each: true, when: (*view).awaitsRecovery,
		find: (*view).findAwaitedRecovery,
	},
	{name: "recovery holds the server", of: server, outranks: true, when: (*view).held},
}))

// The packages and the address.
var packageRules = []rule{
	{
		name: "nothing else is done on a full disk", in: staying, when: func(v *view) bool { return v.Disk != "" },
		ends: staying,
	},
	{
		name: "source of the packages is invalid", ends: working, when: func(v *view) bool {
			return !v.Packages.Installed && !v.Packages.Interrupted() && !v.Usable(OptionSource, OptionOverlay)
		},
		find: says(finding.PackagesAwaited),
	},
	// dpkg needs no source to finish an interrupted upgrade
	{
		name: "packages are missing", ends: working, when: func(v *view) bool { return !v.Packages.Installed },
		step: do(Install),
	},
	{
		name: "address is unknown", in: staying, ends: staying, when: func(v *view) bool { return v.Address == "" },
		find: (*view).findNoAddress,
	},
}

// Files that may not be served, or can't be: R10, and what counts as down for all units.
var fileRules = slices.Concat(given(server, (*view).isOfReplaced, []rule{
	{name: "this unit's copy was given up", more: true, find: says(finding.CopyGivenUp)},
	{
		name: "it is of a cluster that was given up in a recovery", in: working | leaving, step: because(ArchiveFile),
	},
}), given(server, (*view).isUnusable, []rule{
	{
		name: "file is unreadable", in: every, outranks: true,
		when: func(v *view) bool { return v.x.Condition == ovndb.Down && v.x.FileUnknown },
		find: func(v *view) finding.Finding { return v.findFile(finding.FileUnreadable, v.x.Text) },
	},
	{
		name: "file's server was cut off", in: every, outranks: true, // its removal may have been undone
		when: func(v *view) bool { return v.x.Condition == ovndb.Down && v.x.File.Outside },
		find: func(v *view) finding.Finding { return v.findFile(finding.FileCutOff, "") },
	},
	{name: "stopped server's file lacks entries", in: every, find: (*view).findUnusable},
}))

// The certificate.
var certificateRules = slices.Concat([]rule{
	{
		name: "certificates have no relation", in: staying, of: certificate,
		when: func(v *view) bool { return !v.Certificates.Related }, find: (*view).findUnrelated,
	},
}, given(certificate, (*view).expects, []rule{
	{
		name: "no certificate is issued", in: every,
		when: func(v *view) bool { return v.Certificates.Issued == nil && !v.Certificates.Used.usable() },
		find: (*view).findNoCertificate,
	},
	{
		name: "the only certificate is unusable", in: every, outranks: true,
		when: func(v *view) bool { return v.Certificates.unfit() != "" && !v.Certificates.Used.usable() },
		find: func(v *view) finding.Finding { return v.findUnfit(finding.CertificateUnusable) },
	},
	{
		name: "new certificate is unusable", in: every, outranks: true,
		when: func(v *view) bool { return v.Certificates.unfit() != "" },
		find: func(v *view) finding.Finding { return v.findUnfit(finding.CertificateNewUnusable) },
	},
}), given(certificate, (*view).rotates, []rule{
	{
		name: "this unit has no certificate that can be used", in: every,
		when: func(v *view) bool { return !v.Certificates.Used.usable() }, step: because(InstallCertificate),
	},
	{
		name: "the CA's own certificates have changed", in: every,
		when: func(v *view) bool { return v.renewsCAs() && v.trustsTooFew() }, step: because(TrustCA),
	},
	{
		name: "the CA is new", in: every, when: func(v *view) bool { return !v.renewsCAs() && v.trustsTooFew() },
		step: because(TrustCA),
	},
	{
		name: "every unit uses the new CA", in: every, outranks: true,
		when: func(v *view) bool { return v.renewsCAs() && v.stillUses() == "" }, step: because(DropCAs),
	},
	{
		name: "a unit uses the old CA", in: every, outranks: true, when: (*view).renewsCAs,
		find: func(v *view) finding.Finding {
			return v.findChange("old CA kept until "+v.stillUses()+" uses the new one", "")
		},
	},
	{
		name: "the certificate was issued again", in: every, outranks: true,
		when: func(v *view) bool { return v.distrusts() == "" }, step: because(InstallCertificate),
	},
	{
		name: "a unit does not trust the new CA", in: every,
		find: func(v *view) finding.Finding {
			return v.findChange("new one used once "+v.distrusts()+" trusts its CA", "")
		},
	},
}), []rule{
	{name: "certificate in use is unusable", in: every, when: (*view).usesUnusable, find: func(v *view) finding.Finding {
		return v.find(finding.CertificateUnusable, finding.Args{Detail: v.Certificates.Used.Problem},
			v.Certificates.reissue()...)
	}},
	{
		name: "certificate lacks an address", in: every,
		when: func(v *view) bool { return v.certifies() && v.Certificates.Awaited() }, find: func(v *view) finding.Finding {
			c := v.Certificates
			return v.findChange("a new one is awaited from "+cmp.Or(c.Provider, "the provider"), c.Used.Lacks)
		},
	},
	{name: "certificate expires", in: every, when: (*view).certificateExpires, find: func(v *view) finding.Finding {
		return v.find(finding.CertificateExpires, finding.Args{Time: v.Certificates.Used.NotAfter},
			v.Certificates.reissue()...)
	}},
	{
		name: "no usable certificate", in: staying, ends: staying,
		when: func(v *view) bool { return !v.Certificates.Used.usable() },
	},
})

// The machine.
var machineRules = []rule{
	{
		name: "options of the services differ",
		when: func(v *view) bool { return v.Defaults == Drifted || v.Defaults == NeedsRestart }, step: do(WriteDefaults),
	},
	{name: "firewall differs", when: func(v *view) bool { return v.Firewall == Drifted }, step: do(ConfigureFirewall)},
	{
		name: "unit is paused", in: staying, ends: staying, when: func(v *view) bool { return v.Paused },
		find: (*view).findPaused,
	},
}

// Servers start together, and before anything that waits for another unit's turn.
var startRules = []rule{
	{
		name: "packages are outdated and a server is down",
		when: func(v *view) bool { return !v.contested && v.outdated() && v.canStart() },
		step: func(*view) Step { return Step{Kind: Upgrade, Reason: "the source has changed, and a server is down"} },
	},
	{name: "servers are down", in: every, when: (*view).canStart, step: (*view).start},
	{
		name: "recovery is over", in: leaving, each: true, when: func(v *view) bool { return v.isOver(v.db) },
		step: func(v *view) Step { return Step{Kind: ReleaseServer, Database: v.db, Unit: v.Recovery[v.db].HeldFor} },
	},
	{name: "server has failed", of: server, when: in(ovndb.Failed), step: (*view).restartFailed, find: (*view).findFailed},
	{
		name: "the other members have removed this server", of: server,
		when: func(v *view) bool { return v.serves() && v.x.Damage == "" && !v.x.Status.HasLeader() && v.x.Removed },
		step: because(Leave), find: says(finding.ServerRemoved),
	},
	{
		name: "own claim is contested", ends: working, when: func(v *view) bool { return v.contested },
		find: (*view).findContested,
	},
	{name: "servers are not members", ends: working, when: func(v *view) bool { return !v.members() }},
}

// What a Raft leader does for all members.
var leaderRules = slices.Concat([]rule{
	{
		name: "roles are not enforced", each: true, when: func(v *view) bool { return v.x.Unrestricted },
		find: func(v *view) finding.Finding {
			return v.find(finding.RolesNotEnforced, finding.Args{}, finding.Do(RestartOn(v.Unit, ovndb.ServiceOf(v.db))))
		},
	},
	{
		name: "listeners differ", each: true,
		when: func(v *view) bool { return v.x.IsRaftLeader() && v.x.Listeners == Drifted }, step: do(ConfigureListeners),
	},
	{
		name: "replaced clusters are not noted", each: true,
		when: func(v *view) bool { return v.x.IsRaftLeader() && v.x.Superseded == Drifted }, step: do(NoteSuperseded),
	},
	{
		name: "a unit asks to join again", each: true,
		when: func(v *view) bool { return v.removesForOthers(v.db, v.x) && v.toRemove() != nil },
		step: (*view).removeDamaged,
	},
}, given(schema, (*view).hasOldSchema, []rule{
	{
		name: "restarts precede the conversion", outranks: true, when: func(v *view) bool { return len(v.Pending) > 0 },
		find: waits("converted after the restarts"),
	},
	{
		name: "a unit runs other packages", outranks: true, when: func(v *view) bool { return v.runsAnother() != "" },
		find: func(v *view) finding.Finding { return waits(v.runsAnother())(v) },
	},
	{
		name: "conversion lacks room", outranks: true, // each member's own copy is converted
		when: func(v *view) bool { return v.x.ConversionLacks() != "" }, find: (*view).findNoRoom,
	},
	{
		name: "leader converts the schema", outranks: true, when: func(v *view) bool { return !v.x.IsRaftLeader() },
		find: waits("the leader converts it"),
	},
	{
		name: "conversion lacks room on a unit", outranks: true,
		when: func(v *view) bool { return v.withoutRoom(v.db) != "" },
		find: func(v *view) finding.Finding { return waits("converted once " + v.withoutRoom(v.db) + " has room")(v) },
	},
	{
		name: "conversion has failed", outranks: true,
		when: func(v *view) bool { return v.x.TriedTimer >= longestConversionTimer }, find: (*view).findNotConverted,
	},
	{
		name: "conversion needs the election timer's option", outranks: true,
		when: func(v *view) bool { return v.timerIsTooShort() && !v.Usable(OptionElectionTimer) },
		find: waits("the conversion needs a valid " + OptionElectionTimer + ", since it raises the election timer"),
	},
	{
		name: "election timer rises for the conversion", more: true,
		when: func(v *view) bool { return v.timerIsTooShort() && v.x.Status.ChangingTo == 0 },
		step: func(v *view) Step { return v.setTimer(v.neededTimer()) },
	},
	{
		name: "conversion needs a longer election timer", outranks: true, when: (*view).timerIsTooShort,
		find: (*view).findTimerRises,
	},
	{name: "schema is old", step: (*view).convert},
}), given("", (*view).timerDiffers, []rule{
	{
		name: "election timer is set", each: true,
		when: func(v *view) bool { return v.x.IsRaftLeader() && v.x.Status.ChangingTo == 0 },
		step: func(v *view) Step { return v.setTimer(v.Settings.ElectionTimer) },
	},
	{name: "election timer differs", each: true, find: (*view).findTimer},
}))

// An ovn-northd runs beside the servers; one is active in the whole application. One that hangs is not restarted: an
// operator may be examining it, and the others take over.
var northdRules = slices.Concat([]rule{
	{
		name: "ovn-northd's parameters differ",
		when: func(v *view) bool { return v.NorthdParams == Drifted || v.NorthdParams == NeedsRestart },
		step: do(WriteNorthdParams),
	},
	{
		name: "inactivity probe is off", // after a machine lost its power, only the probe ends its ovn-northd's lock
		when: func(v *view) bool { return v.Settings.InactivityProbe == 0 && v.Usable(OptionInactivityProbe) },
		find: (*view).findProbeOff,
	},
}, given(northd, func(v *view) bool { return v.NorthdHeld }, []rule{
	{
		name: "held ovn-northd", outranks: true, when: func(v *view) bool { return v.Northds.Found != NorthdNone },
		find: func(v *view) finding.Finding { return v.find(finding.NorthdHeld, finding.Args{}, v.release()) },
	},
	{
		name: "held ovn-northd, none active", outranks: true,
		find: func(v *view) finding.Finding { return v.findNoNorthd("this unit's is held", v.release()) },
	},
}), []rule{
	{
		name: "ovn-northd is down", of: northd, outranks: true,
		when: func(v *view) bool { return !v.Services[ovndb.Northd].Active },
		step: startOne(ovndb.Northd, "it was not running"), find: (*view).findNorthdDown,
	},
}, given(northd, func(v *view) bool { return v.Northd == ovndb.NorthdUnresponsive }, []rule{
	{
		name: "ovn-northd hangs, another is active", outranks: true, when: func(v *view) bool { return v.activeElsewhere() },
		find: func(v *view) finding.Finding { return v.findHungNorthd("another unit's is active") },
	},
	{
		name: "ovn-northd hangs, no standby", outranks: true, when: func(v *view) bool { return !v.Northds.Standby },
		find: func(v *view) finding.Finding { return v.findHungNorthd("").As(finding.Error) },
	},
	{
		name: "ovn-northd hangs", // it keeps the lock until its connection ends
		find: func(v *view) finding.Finding {
			return v.findNoNorthd("this unit's hangs", finding.Do(RestartOn(v.Unit, ovndb.Northd)))
		},
	},
}), []rule{
	{
		name: "ovn-northd is paused", of: northd, outranks: true, when: func(v *view) bool {
			return v.Northd == ovndb.NorthdPaused && !v.activeElsewhere() && !v.Northds.Standby
		},
		find: (*view).findPausedNorthd,
	},
	{
		name: "no ovn-northd is active", of: northd, // restarting this one frees no lock
		when: func(v *view) bool { return v.Northds.Found == NorthdNone }, find: (*view).findNoneActive,
	},
	{
		name: "no ovn-northd is known", of: northd, outranks: true,
		when: func(v *view) bool { return v.Northds.Found == NorthdUnknown && !v.Northd.Works() },
		find: says(finding.NorthdNoneActive),
	},
	{
		name: "services don't start at boot", of: northd,
		when: func(v *view) bool { x := v.Services[ovndb.Umbrella]; return !x.Enabled || !x.Active },
		step: startOne(ovndb.Umbrella, "the services must start at boot"),
	},
})

// Upgrades and restarts: one unit at a time, followers before leaders. The lock of a restart, not this order,
// guarantees that only one unit at a time is down.
var upgradeRules = slices.Concat(given("", func(v *view) bool { return v.outdated() }, []rule{
	{
		name: "packages are outdated", when: func(v *view) bool { return v.upgradesFirst() == "" },
		step: func(*view) Step { return Step{Kind: Upgrade, Reason: "the source has changed"} },
	},
	{
		name: "another unit upgrades first", when: func(v *view) bool { return v.upgradesFirst() != "" },
		find: func(v *view) finding.Finding {
			return v.find(finding.UpgradeWaits, finding.Args{Unit: v.upgradesFirst()})
		},
	},
}), []rule{
	{
		name: "restarts are deferred", when: func(v *view) bool { return len(v.Pending) > 0 && !v.Settings.AutoRestarts },
		find: (*view).findDeferred,
	},
	{
		name: "restarts are due", when: func(v *view) bool { return len(v.dueRestarts()) > 0 && v.Settings.AutoRestarts },
		step: (*view).restartNext,
		find: func(v *view) finding.Finding { return v.find(finding.RestartDue, finding.Args{Value: v.pending()}) },
	},
})

// Whatever else is found. Only what depends on an invalid option waits for it.
var otherRules = []rule{
	{
		name: "listener without TLS", in: every, each: true, always: true,
		when: func(v *view) bool { return len(v.x.WithoutTLS) > 0 }, list: (*view).findExposed,
	},
	{
		name: "option is invalid", in: every, always: true, when: func(v *view) bool { return len(v.Invalid) > 0 },
		list: (*view).findOptions,
	},
}
