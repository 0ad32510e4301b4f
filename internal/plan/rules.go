package plan

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// rules are all reasons to do, or to report, something, by priority: the first one with a step decides.
var rules = slices.Concat(
	dataRules, recoveryRules, packageRules, fileRules, certificateRules, machineRules, // rules.go
	clusterRules, serverRules, // rules_servers.go
	startRules, leaderRules, northdRules, upgradeRules, otherRules, // rules_services.go
)

// What protects data comes first: it needs no packages, address or certificate, and comes before a pause. Only the
// server has the entries that its file lacks, and it may be killed at any time. The remaining space of a full disk
// may suffice.
var dataRules = []rule{
	{name: "disk is full", in: every, when: func(v *view) bool { return v.Disk != "" }, find: (*view).findFullDisk},
	{name: "running server's file lacks entries", in: every, each: true,
		when: func(v *view) bool { return v.runsDamaged() && v.x.Unmended == "" }, step: (*view).rewrite,
		find: (*view).findDamaged},
	{name: "file that lacks entries can't be rewritten", in: every, each: true,
		when: func(v *view) bool { return v.runsDamaged() && v.x.Unmended != "" }, find: (*view).findDamaged},
	{name: "published data is malformed", in: every, ends: every, when: func(v *view) bool { return v.Problem != "" },
		find: func(v *view) finding.Finding {
			return v.find(finding.PublishedDataInvalid, finding.Args{Detail: v.Problem})
		}},
}

// Recoveries: a unit that is being removed does what no other can.
var recoveryRules = []rule{
	{name: "unit to be removed is paused", in: leaving, when: func(v *view) bool { return v.Paused },
		find: (*view).findPaused},
	{name: "recovery was withdrawn", in: working | leaving, each: true,
		when: func(v *view) bool { return v.deployed() && v.withdrawn() },
		find: func(v *view) finding.Finding { return Withdrawn(v.db, v.Refused[v.db]) }},
	{name: "recovery has a step", in: working | leaving, each: true,
		when: func(v *view) bool { return v.deployed() && v.recoveryStep().Kind != "" }, step: (*view).recoveryStep},
	{name: "recovery waits", in: working | leaving, each: true,
		when: func(v *view) bool { return v.deployed() && v.awaitsRecovery() }, find: (*view).findAwaitedRecovery},
	{name: "recovery holds the server", of: server, outranks: true,
		when: func(v *view) bool { return v.deployed() && v.held() }},
}

// The packages and the address.
var packageRules = []rule{
	{name: "nothing else is done on a full disk", in: staying, when: func(v *view) bool { return v.Disk != "" },
		ends: staying},
	{name: "source of the packages is invalid", ends: working, when: func(v *view) bool {
		return !v.Packages.Installed && !v.Packages.Interrupted() && !v.usable(OptionSource, OptionOverlay)
	},
		find: says(finding.PackagesAwaited)},
	// dpkg needs no source to finish an interrupted upgrade
	{name: "packages are missing", ends: working, when: func(v *view) bool { return !v.Packages.Installed },
		step: do(Install)},
	{name: "address is unknown", in: staying, ends: staying, when: func(v *view) bool { return v.Address == "" },
		find: (*view).findNoAddress},
}

// Files that may not be served, or can't be: R10, and what counts as down for all units.
var fileRules = []rule{
	{name: "this unit's copy was given up", of: server, more: true, when: (*view).isOfReplaced,
		find: says(finding.CopyGivenUp)},
	{name: "it is of a cluster that was given up in a recovery", in: working | leaving, of: server,
		when: (*view).isOfReplaced, step: because(ArchiveFile)},
	{name: "file is unreadable", in: every, of: server, outranks: true,
		when: func(v *view) bool { return v.isUnusable() && v.x.Condition == ovndb.Down && v.x.FileUnknown },
		find: func(v *view) finding.Finding { return v.findFile(finding.FileUnreadable, v.x.Text) }},
	// its removal may have been undone
	{name: "file's server was cut off", in: every, of: server, outranks: true,
		when: func(v *view) bool { return v.isUnusable() && v.x.Condition == ovndb.Down && v.x.File.Outside },
		find: func(v *view) finding.Finding { return v.findFile(finding.FileCutOff, "") }},
	{name: "stopped server's file lacks entries", in: every, of: server, when: (*view).isUnusable,
		find: (*view).findUnusable},
}

// The certificate.
var certificateRules = []rule{
	{name: "certificates have no relation", in: staying, of: certificate,
		when: func(v *view) bool { return !v.Certificates.Related }, find: (*view).findUnrelated},
	{name: "no certificate is issued", in: every, of: certificate, when: func(v *view) bool {
		return v.expects() && v.Certificates.Issued == nil && !v.Certificates.Used.usable()
	},
		find: (*view).findNoCertificate},
	{name: "the only certificate is unusable", in: every, of: certificate, outranks: true, when: func(v *view) bool {
		return v.expects() && v.Certificates.unfit() != "" && !v.Certificates.Used.usable()
	},
		find: func(v *view) finding.Finding { return v.findUnfit(finding.CertificateUnusable) }},
	{name: "new certificate is unusable", in: every, of: certificate, outranks: true,
		when: func(v *view) bool { return v.expects() && v.Certificates.unfit() != "" },
		find: func(v *view) finding.Finding { return v.findUnfit(finding.CertificateNewUnusable) }},
	{name: "this unit has no certificate that can be used", in: every, of: certificate,
		when: func(v *view) bool { return v.rotates() && !v.Certificates.Used.usable() }, step: because(InstallCertificate)},
	{name: "the CA's own certificates have changed", in: every, of: certificate,
		when: func(v *view) bool { return v.renewsCAs() && v.trustsTooFew() }, step: because(TrustCA)},
	{name: "the CA is new", in: every, of: certificate,
		when: func(v *view) bool { return v.rotates() && !v.renewsCAs() && v.trustsTooFew() }, step: because(TrustCA)},
	{name: "every unit uses the new CA", in: every, of: certificate, outranks: true,
		when: func(v *view) bool { return v.renewsCAs() && v.stillUses() == "" }, step: because(DropCAs)},
	{name: "a unit uses the old CA", in: every, of: certificate, outranks: true, when: (*view).renewsCAs,
		find: func(v *view) finding.Finding {
			return v.findChange("old CA kept until "+v.stillUses()+" uses the new one", "")
		}},
	{name: "the certificate was issued again", in: every, of: certificate, outranks: true,
		when: func(v *view) bool { return v.rotates() && v.distrusts() == "" }, step: because(InstallCertificate)},
	{name: "a unit does not trust the new CA", in: every, of: certificate, when: (*view).rotates,
		find: func(v *view) finding.Finding {
			return v.findChange("new one used once "+v.distrusts()+" trusts its CA", "")
		}},
	{name: "certificate in use is unusable", in: every, when: (*view).usesUnusable, find: func(v *view) finding.Finding {
		return v.find(finding.CertificateUnusable, finding.Args{Detail: v.Certificates.Used.Problem},
			v.Certificates.reissue()...)
	}},
	{name: "certificate lacks an address", in: every,
		when: func(v *view) bool { return v.certifies() && v.Certificates.Awaited() }, find: func(v *view) finding.Finding {
			c := v.Certificates
			return v.findChange("a new one is awaited from "+cmp.Or(c.Provider, "the provider"), c.Used.Lacks)
		}},
	{name: "certificate expires", in: every, when: (*view).certificateExpires, find: func(v *view) finding.Finding {
		return v.find(finding.CertificateExpires, finding.Args{Time: v.Certificates.Used.NotAfter},
			v.Certificates.reissue()...)
	}},
	{name: "no usable certificate", in: staying, ends: staying,
		when: func(v *view) bool { return !v.Certificates.Used.usable() }},
}

// The machine.
var machineRules = []rule{
	{name: "options of the services differ",
		when: func(v *view) bool { return v.Defaults == Drifted || v.Defaults == NeedsRestart }, step: do(WriteDefaults)},
	{name: "firewall differs", when: func(v *view) bool { return v.Firewall == Drifted }, step: do(ConfigureFirewall)},
	{name: "unit is paused", in: staying, ends: staying, when: func(v *view) bool { return v.Paused },
		find: (*view).findPaused},
}
