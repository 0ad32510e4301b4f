package finding

import "time"

// Codes about certificates.
const (
	CertificatesMissing    Code = "CERTIFICATES_MISSING"
	CertificatesAwaited    Code = "CERTIFICATES_AWAITED"
	CertificateUnusable    Code = "CERTIFICATE_UNUSABLE"
	CertificateNewUnusable Code = "CERTIFICATE_NEW_UNUSABLE"
	CertificateExpires     Code = "CERTIFICATE_EXPIRES"
	CertificateChanges     Code = "CERTIFICATE_CHANGES"
)

// The lines of CertificatesMissing and CertificatesAwaited begin like the Python charm's, for which deployments wait
// (states_to_check of its ovn_central.py).
var certificateEntries = []Entry{
	entry(CertificatesMissing, Error, Unit, "'certificates' missing",
		"The application is related to no provider of certificates.",
		"Relate it with the printed command. It names vault; use the application that your model has."),
	entry(CertificateUnusable, Error, Unit, "reissue the certificate",
		"The certificate has expired, or doesn't fit the unit, or can't be read.",
		"Have the provider issue a new one (docs/how-to/rotate-certificates.md).").alert(time.Minute),
	entry(CertificateNewUnusable, Error, Unit, "the new certificate can't be used; the old one stays in use",
		"The provider has issued a certificate that doesn't fit.", "Have the provider issue another one."),
	entry(CertificatesAwaited, Waiting, Unit,
		"'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data",
		"The provider has not answered yet.",
		"Look at the provider: vault has to be unsealed and authorized, and needs a root CA.").alert(15 * time.Minute),
	entry(CertificateExpires, Warning, Unit, "certificate expires at {time}", "Less than 30 days are left.",
		"Have the provider issue a new one (docs/how-to/rotate-certificates.md).").alert(time.Minute),
	entry(CertificateChanges, Info, Unit, "certificates: {reason}",
		"A certificate is replaced in steps, so that no connection is refused on the way.", ""),
}

// Codes about ovn-northd.
const (
	NorthdNoneActive Code = "NORTHD_NONE_ACTIVE"
	NorthdHangs      Code = "NORTHD_HANGS"
	NorthdPaused     Code = "NORTHD_PAUSED"
	NorthdHeld       Code = "NORTHD_HELD"
	NorthdDown       Code = "NORTHD_DOWN"
	NorthdProbeOff   Code = "NORTHD_PROBE_OFF"
)

var northdEntries = []Entry{
	entry(NorthdNoneActive, Waiting, Application, "no ovn-northd is active",
		"Changes of the Northbound database do not reach the networks. After the active ovn-northd ends, another unit's "+
			"takes over at once; after its machine ends, within two inactivity probes.",
		"Wait for two inactivity probes. If none takes over, restart the one that hangs in the table of "+
			"`cluster-status`: `restart-services services=ovn-northd` on its unit."),
	entry(NorthdHangs, Warning, Northd, "ovn-northd hangs",
		"This unit's ovn-northd does not answer. If it is the active one, no other takes over until its connection "+
			"ends.", "Restart it with the printed command.").alert(time.Minute),
	entry(NorthdPaused, Warning, Northd, "ovn-northd paused", "Something has paused this unit's ovn-northd.",
		"Resume it with the printed command.").alert(15 * time.Minute),
	entry(NorthdHeld, Info, Northd, "ovn-northd is held", "An operator has run hold-northd.",
		"Run release-northd when it may run again."),
	entry(NorthdDown, Info, Northd, "ovn-northd is not running here",
		"One active ovn-northd in the application is enough. The charm starts this one.", ""),
	entry(NorthdProbeOff, Warning, Option, "a dead ovn-northd keeps its lock",
		"The inactivity probe is 0, so the databases never notice a client that died without closing its connection, "+
			"and no other ovn-northd becomes active.", "Set the option with the printed command."),
}

// Other codes about a unit.
const (
	StateUnknown        Code = "STATE_UNKNOWN"
	StepFailed          Code = "STEP_FAILED"
	AddressUnknown      Code = "ADDRESS_UNKNOWN"
	PackagesAwaited     Code = "PACKAGES_AWAITED"
	ClientPortsClosed   Code = "CLIENT_PORTS_CLOSED"
	ApplicationRemoved  Code = "APPLICATION_REMOVED"
	Paused              Code = "PAUSED"
	RestartsHeld        Code = "RESTARTS_HELD"
	RestartDue          Code = "RESTART_DUE"
	UpgradeWaits        Code = "UPGRADE_WAITS"
	CharmVersionDiffers Code = "CHARM_VERSION_DIFFERS"
	AgentFailed         Code = "AGENT_FAILED"
	BackupOverdue       Code = "BACKUP_OVERDUE"
	FirewallFailed      Code = "FIREWALL_FAILED"
	PolicyFailed        Code = "POLICY_FAILED"
	StepPostponed       Code = "STEP_POSTPONED"
	DrainStalled        Code = "DRAIN_STALLED"
	ClockWrong          Code = "CLOCK_WRONG"
	OptionInvalid       Code = "OPTION_INVALID"
)

var unitEntries = []Entry{
	entry(StateUnknown, Error, Unit, "cannot find out the state of this unit",
		"A call of Juju has failed, or the charm could not read something on the machine. What is shown beside it "+
			"may be incomplete.", "Follow the details, and ask again."),
	entry(StepFailed, Error, Unit, "{value}; Juju tries again by itself",
		"A step of the charm has failed. The next hook tries it again.",
		"Look at the unit's log.").alert(5 * time.Minute),
	entry(OptionInvalid, Error, Option, "option {name} is {value}: {reason}",
		"An option has a value that can't be used. Only what depends on it waits; the databases keep working.",
		"Set the option to a value in its range, or reset it."),
	entry(AddressUnknown, Waiting, Unit, "no ovsdb-peer address", "Juju gives no address for the binding ovsdb-peer.",
		"Look at the machine's networks in Juju with the printed command.").alert(15 * time.Minute),
	entry(PackagesAwaited, Waiting, Unit, "the packages are not installed until their source can be used",
		"The option `source` or `ovn-source` has a value that can't be used.", "Set the option, or reset it."),
	entry(ClientPortsClosed, Waiting, Unit, "the client ports do not answer yet",
		"The servers are members, and don't serve clients at this unit's address yet.",
		"Nothing. If it lasts, look at the server's log.").alert(5 * time.Minute),
	entry(ApplicationRemoved, Waiting, Application, "every unit is being removed",
		"No unit stays that could serve the databases. Their files stay on the machines.", ""),
	entry(Paused, Warning, Unit, "paused", "An operator has paused the unit: its services are stopped.",
		"Resume it with the printed command.").alert(24 * time.Hour),
	entry(StepPostponed, Info, Unit, "a step waits for its turn",
		"Another unit is changing a cluster, or the others would be no majority. The next hook tries again.", ""),
	entry(AgentFailed, Warning, Unit, "agent: {value}",
		"The unit's agent doesn't work as it should. The databases don't depend on it; the agent of another unit "+
			"acts, if there is one.", "Look at the log of ovn-central-agent on the unit.").alert(5 * time.Minute),
	entry(BackupOverdue, Warning, Unit, "backup: {reason}",
		"The unit's own backups are not as the option `backup-interval` wants them.",
		"Run the action backup, and look at the log of ovn-central-backup on the unit."),
	entry(FirewallFailed, Warning, Unit, "the firewall is not configured", "Only TLS protects the databases.",
		"Install ufw, or see why it fails.").alert(15 * time.Minute),
	entry(PolicyFailed, Warning, Unit, "cannot keep packages from restarting services",
		"`enable-auto-restarts` is false, but packages ask another program than the charm's, so an upgrade of them "+
			"restarts the services.", "See the details, which say what to do."),
	entry(DrainStalled, Warning, Unit, "drain of {name} STALLED: {value}",
		"Nothing of what holds a node has gone for 5 minutes.",
		"docs/how-to/take-a-node-out.md says what ends each hold."),
	entry(ClockWrong, Warning, Unit, "the clock of {name} differs from this unit's by {duration}",
		"The clocks of two units differ by more than the agents' lease allows for.",
		"Set up time synchronization on that machine."),
	entry(CharmVersionDiffers, Warning, Unit, "{name} runs another version of the charm",
		"The unit has run a hook since it has seen the version that the others run. Its agent was down during `juju "+
			"refresh`: Juju 4 then leaves a unit on its old charm. A unit whose agent is still down is not named.",
		"Run the same `juju refresh` again while the agents of all units run. It restarts no "+
			"server.").alert(15 * time.Minute),
	entry(RestartsHeld, Info, Unit, "restarts are held back",
		"`enable-auto-restarts` is false. show-deferred-events says why each service has to restart.",
		"Run the printed command when the services may restart."),
	entry(RestartDue, Info, Unit, "restart due: {value}",
		"Over all units, one member of a database restarts at a time.", ""),
	entry(UpgradeWaits, Info, Unit, "upgrade: waiting for {unit}, which upgrades first",
		"Units upgrade one after another, those that lead last.", ""),
}
