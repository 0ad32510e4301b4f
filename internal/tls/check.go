package tls

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Info describes a unit's certificate. A fingerprint is the SHA-256 of a certificate as 64 lower-case hex digits.
type Info struct {
	NotBefore, NotAfter time.Time
	Fingerprint         string
	// Authorities are the fingerprints of the certificates in the CA file, in the file's order, without those that
	// [Bundle] omits.
	Authorities []string
	// Issuer is the fingerprint of the authority that signed the certificate; empty if the CA file lacks that authority.
	Issuer string
}

// Expiry returns when the first and when the last of the certificates in a file expires.
func Expiry(path string) (first, last time.Time, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return first, last, fmt.Errorf("cannot read certificates: %w", err)
	}
	all, err := parseCertificates(data)
	if err != nil {
		return first, last, fmt.Errorf("cannot read the certificates of %s: %w", path, err)
	}
	byExpiry := func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) }
	return slices.MinFunc(all, byExpiry).NotAfter, slices.MaxFunc(all, byExpiry).NotAfter, nil
}

// Check checks that the unit can use these credentials at time now, as a server and as a client: each member is both
// for the others, at these addresses. It returns the first problem, or no reason; Info has as much as is known.
func Check(c Credentials, addresses []netip.Addr, now time.Time) (Info, finding.Reason) {
	certificates, err := parseCertificates(c.Certificate)
	if err != nil {
		return Info{}, problem(finding.CertificateUnread, "", err.Error())
	}
	leaf := certificates[0]
	info := Info{NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter, Fingerprint: fingerprint(leaf)}
	key, err := parseKey(c.Key)
	if err != nil {
		return info, problem(finding.KeyUnread, "", err.Error())
	}
	authorities, err := parseCertificates(c.CA)
	if err != nil {
		return info, problem(finding.CAUnread, "", err.Error())
	}
	for _, a := range authorities {
		if trusted(a, now) {
			info.Authorities = append(info.Authorities, fingerprint(a))
		}
	}
	if !samePublicKey(leaf, key) {
		return info, problem(finding.KeyDiffers, "", "")
	}
	if p := checkTime(leaf, now, finding.CertificateTooNew, finding.CertificateExpired); !p.IsZero() {
		return info, p
	}
	issuer, p := checkTrust(leaf, authorities, now)
	if !p.IsZero() {
		return info, p
	}
	info.Issuer = fingerprint(issuer)
	return info, checkAddresses(leaf, addresses)
}

// problem returns a reason. It replaces unprintable characters, which a certificate may contain.
func problem(code finding.ReasonCode, name, value string) finding.Reason {
	return finding.Reason{Code: code, Name: strings.Map(printable, name), Value: strings.Map(printable, value)}
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

// checkTime returns a reason with one of the codes if the certificate is not valid now.
func checkTime(c *x509.Certificate, now time.Time, tooNew, expired finding.ReasonCode) (p finding.Reason) {
	const form = "2006-01-02 15:04 UTC"
	name := quote(c.Subject.CommonName)
	switch {
	case now.Before(c.NotBefore):
		p = problem(tooNew, name, c.NotBefore.UTC().Format(form))
	case now.After(c.NotAfter):
		p = problem(expired, name, c.NotAfter.UTC().Format(form))
	default:
		return p
	}
	p.Because = []finding.Reason{problem(finding.ClockShows, "", now.UTC().Format(form))}
	return p
}

// checkTrust returns the CA that signed the leaf. It is as strict as the servers: the CA file must have the whole
// chain, up to a self-signed certificate.
func checkTrust(leaf *x509.Certificate, authorities []*x509.Certificate, now time.Time) (
	issuer *x509.Certificate, p finding.Reason,
) {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, a := range authorities {
		if selfSigned(a) {
			roots.AddCert(a)
		} else {
			between.AddCert(a)
		}
	}
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		chains, err := leaf.Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use},
		})
		if err != nil {
			return nil, verifyProblem(err, leaf, authorities, now)
		}
		issuer = chains[0][min(1, len(chains[0])-1)]
	}
	return issuer, p
}

// verifyProblem returns the problem for an error of [x509.Certificate.Verify].
func verifyProblem(err error, leaf *x509.Certificate, authorities []*x509.Certificate, now time.Time) finding.Reason {
	invalid := x509.CertificateInvalidError{}
	switch expired := errors.As(err, &invalid) && invalid.Reason == x509.Expired; {
	case expired:
		if p := checkTime(invalid.Cert, now, finding.CATooNew, finding.CAExpired); !p.IsZero() {
			return p
		}
	case invalid.Reason == x509.IncompatibleUsage:
		return problem(finding.CertificateUsage, "", "")
	}
	return problem(finding.CertificateOfOtherCA, quote(leaf.Issuer.CommonName), subjects(authorities))
}

func selfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawIssuer, c.RawSubject) &&
		c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

func checkAddresses(leaf *x509.Certificate, addresses []netip.Addr) (p finding.Reason) {
	var missing []string
	for _, a := range addresses {
		if !slices.ContainsFunc(leaf.IPAddresses, func(ip net.IP) bool { return ip.Equal(a.AsSlice()) }) {
			missing = append(missing, a.String())
		}
	}
	names := sans(leaf)
	switch {
	case len(missing) == 0:
		return p
	case len(names) == 0:
		return problem(finding.CertificateNamesNone, "", listed(missing))
	}
	return problem(finding.CertificateLacks, listed(names), listed(missing))
}

// sans returns the certificate's names, then its addresses, each list sorted.
func sans(c *x509.Certificate) []string {
	names := slices.Sorted(slices.Values(c.DNSNames))
	var addresses []netip.Addr
	for _, ip := range c.IPAddresses {
		if a, ok := netip.AddrFromSlice(ip); ok {
			addresses = append(addresses, a.Unmap())
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	for _, a := range addresses {
		names = append(names, a.String())
	}
	return names
}

// listed joins a list of names to a text of limited length: a certificate may have very many names.
func listed(names []string) string {
	const most = 6
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	var short []string
	for _, n := range names {
		if len(n) > 80 {
			n = n[:80] + "…"
		}
		short = append(short, n)
	}
	return strings.Join(short, ", ")
}

func subjects(certificates []*x509.Certificate) string {
	var all []string
	for _, c := range certificates {
		all = append(all, quote(c.Subject.CommonName))
	}
	return listed(all)
}
