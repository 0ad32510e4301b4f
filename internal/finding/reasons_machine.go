package finding

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

var machineReasons = map[ReasonCode]string{
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
}
