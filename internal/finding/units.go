package finding

import "time"

// What concerns certificates.
const (
	CertificatesMissing    Code = "CERTIFICATES_MISSING"
	CertificatesAwaited    Code = "CERTIFICATES_AWAITED"
	CertificateUnusable    Code = "CERTIFICATE_UNUSABLE"
	CertificateNewUnusable Code = "CERTIFICATE_NEW_UNUSABLE"
	CertificateExpires     Code = "CERTIFICATE_EXPIRES"
	CertificateChanges     Code = "CERTIFICATE_CHANGES"
)

// The lines of CertificatesMissing and CertificatesAwaited begin as the Python charm's, which
// deployments wait for (states_to_check of its ovn_central.py).
var certificateEntries = []Entry{
	{
		Code: CertificatesMissing, Severity: Error, Kind: Unit,
		Line:    "'certificates' missing",
		Meaning: "The application is related to no provider of certificates.",
		Do:      "Relate it with the printed command. It names vault; use the application that your model has.",
	},
	{
		Code: CertificateUnusable, Severity: Error, Kind: Unit, For: time.Minute,
		Line:    "reissue the certificate",
		Meaning: "The certificate has expired, or doesn't fit the unit, or can't be read.",
		Do:      "Have the provider issue a new one (docs/how-to/rotate-certificates.md).",
	},
	{
		Code: CertificateNewUnusable, Severity: Error, Kind: Unit,
		Line:    "the new certificate can't be used; the old one stays in use",
		Meaning: "The provider has issued a certificate that doesn't fit.",
		Do:      "Have the provider issue another one.",
	},
	{
		Code: CertificatesAwaited, Severity: Waiting, Kind: Unit, For: 15 * time.Minute,
		Line:    "'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data",
		Meaning: "The provider has not answered yet.",
		Do:      "Look at the provider: vault has to be unsealed and authorized, and needs a root CA.",
	},
	{
		Code: CertificateExpires, Severity: Warning, Kind: Unit, For: time.Minute,
		Line:    "certificate expires on {date}",
		Meaning: "Less than 30 days are left.",
		Do:      "Have the provider issue a new one (docs/how-to/rotate-certificates.md).",
	},
	{
		Code: CertificateChanges, Severity: Info, Kind: Unit,
		Line:    "certificates: {value}",
		Meaning: "A certificate is replaced in steps, so that no connection is refused on the way.",
		Do:      "Nothing.",
	},
}

// What concerns ovn-northd.
const (
	NorthdNoneActive Code = "NORTHD_NONE_ACTIVE"
	NorthdHangs      Code = "NORTHD_HANGS"
	NorthdPaused     Code = "NORTHD_PAUSED"
	NorthdHeld       Code = "NORTHD_HELD"
	NorthdDown       Code = "NORTHD_DOWN"
	NorthdProbeOff   Code = "NORTHD_PROBE_OFF"
)

var northdEntries = []Entry{
	{
		Code: NorthdNoneActive, Severity: Waiting, Kind: Application, For: 2 * time.Minute,
		Line: "no ovn-northd is active",
		Meaning: "Changes of the Northbound database do not reach the networks. " +
			"After the active ovn-northd ends, another one takes over at once; after its machine ends, " +
			"within the inactivity probe.",
		Do: "Wait for the inactivity probe. If none takes over, restart the one that hangs in the table of " +
			"`cluster-status`: `restart-services services=ovn-northd` on its unit.",
	},
	{
		Code: NorthdHangs, Severity: Warning, Kind: Northd, For: time.Minute,
		Line: "ovn-northd hangs",
		Meaning: "This unit's ovn-northd does not answer. If it is the active one, " +
			"no other takes over until its connection ends.",
		Do: "Restart it with the printed command.",
	},
	{
		Code: NorthdPaused, Severity: Warning, Kind: Northd, For: 15 * time.Minute,
		Line:    "ovn-northd paused",
		Meaning: "Something has paused this unit's ovn-northd.",
		Do:      "Resume it with the printed command.",
	},
	{
		Code: NorthdHeld, Severity: Info, Kind: Northd,
		Line:    "ovn-northd is held",
		Meaning: "An operator has run hold-northd.",
		Do:      "Run release-northd when it may run again.",
	},
	{
		Code: NorthdDown, Severity: Info, Kind: Northd, For: 15 * time.Minute,
		Line:    "ovn-northd is not running here",
		Meaning: "One active ovn-northd in the application is enough. The charm starts this one.",
		Do:      "Nothing.",
	},
	{
		Code: NorthdProbeOff, Severity: Warning, Kind: Option,
		Line: "a dead ovn-northd keeps its lock",
		Meaning: "The inactivity probe is 0, so the databases never notice a client that died without closing its " +
			"connection, and no other ovn-northd becomes active.",
		Do: "Set the option with the printed command.",
	},
}

// What else concerns a unit.
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
	{
		Code: StateUnknown, Severity: Error, Kind: Unit,
		Line: "cannot find out the state of this unit",
		Meaning: "A call of Juju has failed, or the charm could not read something on the machine. " +
			"What is shown beside it may be incomplete.",
		Do: "Follow the details, and ask again.",
	},
	{
		Code: StepFailed, Severity: Error, Kind: Unit, For: 5 * time.Minute,
		Line:    "{value}; Juju tries again by itself",
		Meaning: "A step of the charm has failed. The next hook tries it again.",
		Do:      "Look at the unit's log.",
	},
	{
		Code: OptionInvalid, Severity: Error, Kind: Option,
		Line:    "option {name} is {value}",
		Meaning: "An option has a value that can't be used. Only what depends on it waits; the databases keep working.",
		Do:      "Set the option to a value in its range, or reset it.",
	},
	{
		Code: AddressUnknown, Severity: Waiting, Kind: Unit, For: 15 * time.Minute,
		Line:    "no ovsdb-peer address",
		Meaning: "Juju gives no address for the binding ovsdb-peer.",
		Do:      "Look at the machine's networks in Juju with the printed command.",
	},
	{
		Code: PackagesAwaited, Severity: Waiting, Kind: Unit,
		Line:    "the packages are not installed until their source can be used",
		Meaning: "The option `source` or `ovn-source` has a value that can't be used.",
		Do:      "Set the option, or reset it.",
	},
	{
		Code: ClientPortsClosed, Severity: Waiting, Kind: Unit, For: 5 * time.Minute,
		Line:    "the client ports do not answer yet",
		Meaning: "The servers are members, and don't serve clients at this unit's address yet.",
		Do:      "Nothing. If it lasts, look at the server's log.",
	},
	{
		Code: ApplicationRemoved, Severity: Waiting, Kind: Application,
		Line:    "every unit is being removed",
		Meaning: "No unit stays that could serve the databases. Their files stay on the machines.",
		Do:      "Nothing.",
	},
	{
		Code: Paused, Severity: Warning, Kind: Unit, For: 24 * time.Hour,
		Line:    "paused",
		Meaning: "An operator has paused the unit: its services are stopped.",
		Do:      "Resume it with the printed command.",
	},
	{
		Code: StepPostponed, Severity: Info, Kind: Unit,
		Line:    "a step waits for its turn",
		Meaning: "Another unit is changing a cluster, or the others would be no majority. The next hook tries again.",
		Do:      "Nothing.",
	},
	{
		Code: AgentFailed, Severity: Warning, Kind: Unit, For: 5 * time.Minute,
		Line: "agent: {value}",
		Meaning: "The unit's agent doesn't work as it should. The databases don't depend on it, " +
			"and the agent of another unit acts.",
		Do: "Look at the log of ovn-central-agent on the unit.",
	},
	{
		Code: BackupOverdue, Severity: Warning, Kind: Unit,
		Line:    "backup: {value}",
		Meaning: "The unit's own backups are not as the option `backup-interval` wants them.",
		Do:      "Run the action backup, and look at the log of ovn-central-backup on the unit.",
	},
	{
		Code: FirewallFailed, Severity: Warning, Kind: Unit, For: 15 * time.Minute,
		Line:    "the firewall is not configured",
		Meaning: "Only TLS protects the databases.",
		Do:      "Install ufw, or see why it fails.",
	},
	{
		Code: PolicyFailed, Severity: Warning, Kind: Unit,
		Line: "cannot keep packages from restarting services",
		Meaning: "`enable-auto-restarts` is false, but packages ask another program than the charm's, " +
			"so an upgrade of them restarts the services.",
		Do: "Do what the details say.",
	},
	{
		Code: DrainStalled, Severity: Warning, Kind: Unit,
		Line:    "drain of {name} STALLED: {value}",
		Meaning: "Nothing of what holds a node has gone for 5 minutes.",
		Do:      "docs/how-to/take-a-node-out.md says what ends each hold.",
	},
	{
		Code: ClockWrong, Severity: Warning, Kind: Unit,
		Line:    "the clock of {name} differs from this unit's by {duration}",
		Meaning: "The clocks of two units differ by more than the agents' lease allows for.",
		Do:      "Set up time synchronization on that machine.",
	},
	{
		Code: CharmVersionDiffers, Severity: Warning, Kind: Unit, For: 15 * time.Minute,
		Line: "{name} runs another version of the charm",
		Meaning: "The unit has run a hook since it has seen the version that the others run. " +
			"Its agent was down during `juju refresh`: Juju 4 then leaves a unit on its old charm. " +
			"A unit whose agent is still down is not named.",
		Do: "Run the same `juju refresh` again while the agents of all units run. It restarts no server.",
	},
	{
		Code: RestartsHeld, Severity: Info, Kind: Unit,
		Line:    "restarts are held back",
		Meaning: "`enable-auto-restarts` is false. show-deferred-events says why each service has to restart.",
		Do:      "Run the printed command when the services may restart.",
	},
	{
		Code: RestartDue, Severity: Info, Kind: Unit,
		Line:    "restart due: {value}",
		Meaning: "Over all units, one member of a database restarts at a time.",
		Do:      "Nothing.",
	},
	{
		Code: UpgradeWaits, Severity: Info, Kind: Unit,
		Line:    "upgrade: waiting for {unit}, which upgrades first",
		Meaning: "Units upgrade one after another, those that lead last.",
		Do:      "Nothing.",
	},
}
