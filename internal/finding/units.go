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

// The lines of CertificatesMissing and CertificatesAwaited begin as the Python charm's, which
// deployments wait for (states_to_check of its ovn_central.py).
var certificateEntries = []Entry{
	entry(CertificatesMissing, Error, Unit, "'certificates' missing"),
	entry(CertificateUnusable, Error, Unit, "reissue the certificate").alert(time.Minute),
	entry(CertificateNewUnusable, Error, Unit, "the new certificate can't be used; the old one stays in use"),
	entry(CertificatesAwaited, Waiting, Unit,
		"'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data").alert(15 * time.Minute),
	entry(CertificateExpires, Warning, Unit, "certificate expires on {date}").alert(time.Minute),
	entry(CertificateChanges, Info, Unit, "certificates: {value}"),
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
	entry(NorthdNoneActive, Waiting, Application, "no ovn-northd is active").alert(2 * time.Minute),
	entry(NorthdHangs, Warning, Northd, "ovn-northd hangs").alert(time.Minute),
	entry(NorthdPaused, Warning, Northd, "ovn-northd paused").alert(15 * time.Minute),
	entry(NorthdHeld, Info, Northd, "ovn-northd is held"),
	entry(NorthdDown, Info, Northd, "ovn-northd is not running here").alert(15 * time.Minute),
	entry(NorthdProbeOff, Warning, Option, "a dead ovn-northd keeps its lock"),
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
	entry(StateUnknown, Error, Unit, "cannot find out the state of this unit"),
	entry(StepFailed, Error, Unit, "{value}; Juju tries again by itself").alert(5 * time.Minute),
	entry(OptionInvalid, Error, Option, "option {name} is {value}"),
	entry(AddressUnknown, Waiting, Unit, "no ovsdb-peer address").alert(15 * time.Minute),
	entry(PackagesAwaited, Waiting, Unit, "the packages are not installed until their source can be used"),
	entry(ClientPortsClosed, Waiting, Unit, "the client ports do not answer yet").alert(5 * time.Minute),
	entry(ApplicationRemoved, Waiting, Application, "every unit is being removed"),
	entry(Paused, Warning, Unit, "paused").alert(24 * time.Hour),
	entry(StepPostponed, Info, Unit, "a step waits for its turn"),
	entry(AgentFailed, Warning, Unit, "agent: {value}").alert(5 * time.Minute),
	entry(BackupOverdue, Warning, Unit, "backup: {value}"),
	entry(FirewallFailed, Warning, Unit, "the firewall is not configured").alert(15 * time.Minute),
	entry(PolicyFailed, Warning, Unit, "cannot keep packages from restarting services"),
	entry(DrainStalled, Warning, Unit, "drain of {name} STALLED: {value}"),
	entry(ClockWrong, Warning, Unit, "the clock of {name} differs from this unit's by {duration}"),
	entry(CharmVersionDiffers, Warning, Unit, "{name} runs another version of the charm").alert(15 * time.Minute),
	entry(RestartsHeld, Info, Unit, "restarts are held back"),
	entry(RestartDue, Info, Unit, "restart due: {value}"),
	entry(UpgradeWaits, Info, Unit, "upgrade: waiting for {unit}, which upgrades first"),
}
