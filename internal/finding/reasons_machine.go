package finding

// Reasons why a file lacks entries of its server's log, or a server does not start.
const (
	FileMissing     ReasonCode = "FILE_MISSING"
	FileBehind      ReasonCode = "FILE_BEHIND"
	WriteFailed     ReasonCode = "WRITE_FAILED"
	PIDFileOfOthers ReasonCode = "PID_FILE_OF_OTHERS"
)

// Reasons why a certificate can't be used, or lacks an address.
const (
	CertificateUnread    ReasonCode = "CERTIFICATE_UNREAD"
	KeyUnread            ReasonCode = "KEY_UNREAD"
	CAUnread             ReasonCode = "CA_UNREAD"
	KeyDiffers           ReasonCode = "KEY_DIFFERS"
	CertificateTooNew    ReasonCode = "CERTIFICATE_NOT_YET_VALID"
	CATooNew             ReasonCode = "CA_NOT_YET_VALID"
	CertificateExpired   ReasonCode = "CERTIFICATE_EXPIRED"
	CAExpired            ReasonCode = "CA_EXPIRED"
	ClockShows           ReasonCode = "CLOCK_SHOWS"
	CertificateUsage     ReasonCode = "CERTIFICATE_USAGE"
	CertificateOfOtherCA ReasonCode = "CERTIFICATE_OF_OTHER_CA"
	CertificateLacks     ReasonCode = "CERTIFICATE_LACKS_ADDRESS"
	CertificateNamesNone ReasonCode = "CERTIFICATE_NAMES_NONE"
)

// Reasons why packages can't be got from a source.
const (
	SourcesOfUbuntu   ReasonCode = "SOURCES_OF_UBUNTU"
	SourcesOfDebian   ReasonCode = "SOURCES_OF_DEBIAN"
	SourceNoText      ReasonCode = "SOURCE_NO_TEXT"
	SourceOnSystem    ReasonCode = "SOURCE_ON_SYSTEM"
	SourceNoPPA       ReasonCode = "SOURCE_NO_PPA"
	SourceNoReleases  ReasonCode = "SOURCE_NO_RELEASES"
	SourceNoRelease   ReasonCode = "SOURCE_NO_RELEASE"
	SourceOfOtherOS   ReasonCode = "SOURCE_OF_OTHER_SYSTEM"
	SourceNoPocket    ReasonCode = "SOURCE_NO_POCKET"
	SourceUnknown     ReasonCode = "SOURCE_UNKNOWN"
	SourceNoURL       ReasonCode = "SOURCE_NO_URL"
	SourceNoDebLine   ReasonCode = "SOURCE_NO_DEB_LINE"
	SourceKeysTwice   ReasonCode = "SOURCE_KEYS_TWICE"
	SourceKeyNone     ReasonCode = "SOURCE_KEY_NONE"
	PolicyFileInPlace ReasonCode = "POLICY_FILE_IN_PLACE"
	PolicyOfOthers    ReasonCode = "POLICY_OF_OTHERS"
)

// Reasons about other programs on the machine.
const (
	FirewallAbsent ReasonCode = "FIREWALL_ABSENT"
	AgentSilent    ReasonCode = "AGENT_SILENT"
)

// Reasons why published data can't be used.
const (
	NotFourDigits  ReasonCode = "NOT_FOUR_DIGITS"
	NotIDWith      ReasonCode = "NOT_ID_WITH_DIGITS"
	NotID          ReasonCode = "NOT_ID"
	NotIndex       ReasonCode = "NOT_INDEX"
	NotServers     ReasonCode = "NOT_SERVERS"
	HasNoID        ReasonCode = "HAS_NO_ID"
	HasNoRecord    ReasonCode = "HAS_NO_RECORD"
	AndMore        ReasonCode = "AND_MORE"
	SettingHasNoID ReasonCode = "SETTING_HAS_NO_ID"
	SettingNotID   ReasonCode = "SETTING_NOT_ID"
	SettingsOfOne  ReasonCode = "SETTINGS_OF_ONE_CLUSTER"
)

var machineReasons = map[ReasonCode]string{
	FileMissing: "{value} is gone",
	FileBehind:  "the server has entries up to {total}, its file has them up to {count}",
	WriteFailed: "the server leads and has entries up to {total}, and has stored them up to {count}: a write to its " +
		"disk has failed",
	PIDFileOfOthers: "pid file {name} is of {value}",

	CertificateUnread:  "certificate can't be read: {value}",
	KeyUnread:          "key of the certificate can't be read: {value}",
	CAUnread:           "CA certificate can't be read: {value}",
	KeyDiffers:         "certificate is for another key",
	CertificateTooNew:  "certificate is valid from {value} only, {because}",
	CATooNew:           "CA certificate {name} is valid from {value} only, {because}",
	CertificateExpired: "certificate verify failed: certificate has expired on {value}, {because}",
	CAExpired:          "certificate verify failed: CA certificate {name} has expired on {value}, {because}",
	ClockShows:         "here it is {value}",
	CertificateUsage:   "certificate, or one above it, is not for both servers and clients",
	CertificateOfOtherCA: "certificate was not issued by the CA that is given with it: its issuer is {name}, given are " +
		"{value}",
	CertificateLacks:     "certificate is for {name}, this unit is {value}",
	CertificateNamesNone: "certificate is for no name at all, this unit is {value}",

	SourcesOfUbuntu: "it takes distro, an OpenStack release (caracal), cloud:SERIES-RELEASE[/proposed|/staging], " +
		"ppa:OWNER/NAME, or a deb line or URL, with |KEY if need be",
	SourcesOfDebian:  "it takes distro or a deb line, with |KEY if need be",
	SourceNoText:     "it holds what is no text; {because}",
	SourceOnSystem:   "on {name} {because}",
	SourceNoPPA:      "a personal archive is written ppa:OWNER/NAME",
	SourceNoReleases: "no releases are known for {name}; use distro or a deb line",
	SourceNoRelease:  "{name} has no {value}; it has {list}",
	SourceOfOtherOS:  "it is for {value}, and this machine runs {name}",
	SourceNoPocket:   "a release has no {value}; it has updates, proposed and staging",
	SourceUnknown:    "the cloud archive has no {value} that is known here; {because}",
	SourceNoURL:      "it is no URL; {because}",
	SourceNoDebLine:  "one deb line is written deb URL SUITE COMPONENT...",
	SourceKeysTwice:  "it has both the option signed-by and a key after |; one of them is enough",
	SourceKeyNone: "the key after | is neither an OpenPGP public key in ASCII armour nor 16 or 40 hex digits of one's " +
		"ID",
	PolicyFileInPlace: "move {name} away (it does not read {value})",
	PolicyOfOthers: "{name} leads to {value}, which does not read {list}; run: sudo update-alternatives --config " +
		"policy-rc.d",

	NotFourDigits:  "{name} is {value}, not four hex digits",
	NotIDWith:      "{name} is {value}, not an ID that begins with {because}",
	NotID:          "{name} is {value}, not an ID",
	NotIndex:       "{name} is {value}, not an index",
	NotServers:     "{name} is {value}, not a JSON object of servers",
	HasNoID:        "{name} has {value}, which is no ID",
	HasNoRecord:    "{name} has for {because} {value}, which is no record",
	AndMore:        "and {count} more",
	SettingHasNoID: "the leader setting {name} has {value}, not an ID",
	SettingNotID:   "the leader setting {name} is {value}, not an ID",
	SettingsOfOne:  "the leader settings name one cluster only",

	FirewallAbsent: "there is no ufw on this machine",
	AgentSilent:    "does not answer; look at: journalctl -u {name}",
}
