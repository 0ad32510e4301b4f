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
)

// Kind is a kind of problem with credentials.
type Kind string

// The kinds of problems, in the order in which [Check] looks for them.
const (
	// Malformed means that the data have no PEM, or are truncated, damaged, or of another kind.
	Malformed Kind = "malformed"
	// KeyMismatch means that the certificate is for another key.
	KeyMismatch Kind = "key-mismatch"
	// NotYetValid means that the certificate, or one above it, is not valid yet.
	NotYetValid Kind = "not-yet-valid"
	// Expired means that the certificate, or one above it, has expired.
	Expired Kind = "expired"
	// Untrusted means that other members would refuse the certificate.
	Untrusted Kind = "untrusted"
	// MissingAddress means that the certificate lacks an address of the unit. It may be the answer to an older request.
	MissingAddress Kind = "missing-address"
)

// Problem is the error of [Check] for unusable credentials.
type Problem struct {
	Kind Kind
	// Text is one line for the unit's status: the difference between the found and the expected.
	Text string
}

func (p *Problem) Error() string { return p.Text }

// problem replaces unprintable characters, which a certificate may contain.
func problem(kind Kind, format string, args ...any) *Problem {
	return &Problem{kind, strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...))}
}

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
// for the others, at these addresses. The error is a [*Problem]; then Info has as much as is known.
func Check(c Credentials, addresses []netip.Addr, now time.Time) (Info, error) {
	certificates, err := parseCertificates(c.Certificate)
	if err != nil {
		return Info{}, problem(Malformed, "certificate can't be read: %v", err)
	}
	leaf := certificates[0]
	info := Info{NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter, Fingerprint: fingerprint(leaf)}
	key, err := parseKey(c.Key)
	if err != nil {
		return info, problem(Malformed, "key of the certificate can't be read: %v", err)
	}
	authorities, err := parseCertificates(c.CA)
	if err != nil {
		return info, problem(Malformed, "CA certificate can't be read: %v", err)
	}
	for _, a := range authorities {
		if trusted(a, now) {
			info.Authorities = append(info.Authorities, fingerprint(a))
		}
	}
	if !samePublicKey(leaf, key) {
		return info, problem(KeyMismatch, "certificate is for another key")
	}
	if p := checkTime("certificate", leaf, now); p != nil {
		return info, p
	}
	issuer, p := checkTrust(leaf, authorities, now)
	if p != nil {
		return info, p
	}
	info.Issuer = fingerprint(issuer)
	if p := checkAddresses(leaf, addresses); p != nil {
		return info, p
	}
	return info, nil
}

func checkTime(what string, c *x509.Certificate, now time.Time) *Problem {
	const form = "2006-01-02 15:04 UTC"
	switch {
	case now.Before(c.NotBefore):
		return problem(NotYetValid, "%s is valid from %s only, here it is %s", what, c.NotBefore.UTC().Format(form),
			now.UTC().Format(form))
	case now.After(c.NotAfter):
		return problem(Expired, "certificate verify failed: %s has expired on %s, here it is %s", what,
			c.NotAfter.UTC().Format(form), now.UTC().Format(form))
	}
	return nil
}

// checkTrust returns the CA that signed the leaf. It is as strict as the servers: the CA file must have the whole
// chain, up to a self-signed certificate.
func checkTrust(leaf *x509.Certificate, authorities []*x509.Certificate, now time.Time) (*x509.Certificate, *Problem) {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, a := range authorities {
		if selfSigned(a) {
			roots.AddCert(a)
		} else {
			between.AddCert(a)
		}
	}
	var issuer *x509.Certificate
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		chains, err := leaf.Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use},
		})
		if err != nil {
			return nil, verifyProblem(err, leaf, authorities, now)
		}
		issuer = chains[0][min(1, len(chains[0])-1)]
	}
	return issuer, nil
}

// verifyProblem returns the problem for an error of [x509.Certificate.Verify].
func verifyProblem(err error, leaf *x509.Certificate, authorities []*x509.Certificate, now time.Time) *Problem {
	invalid := x509.CertificateInvalidError{}
	switch expired := errors.As(err, &invalid) && invalid.Reason == x509.Expired; {
	case expired:
		if p := checkTime("CA certificate "+quote(invalid.Cert.Subject.CommonName), invalid.Cert, now); p != nil {
			return p
		}
	case invalid.Reason == x509.IncompatibleUsage:
		return problem(Untrusted, "certificate, or one above it, is not for both servers and clients")
	}
	return problem(Untrusted, "certificate was not issued by the CA that is given with it: its issuer is %s, given are %s",
		quote(leaf.Issuer.CommonName), subjects(authorities))
}

func selfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawIssuer, c.RawSubject) &&
		c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

func checkAddresses(leaf *x509.Certificate, addresses []netip.Addr) *Problem {
	var missing []string
	for _, a := range addresses {
		if !slices.ContainsFunc(leaf.IPAddresses, func(ip net.IP) bool { return ip.Equal(a.AsSlice()) }) {
			missing = append(missing, a.String())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return problem(MissingAddress, "certificate is for %s, this unit is %s", listed(sans(leaf)), listed(missing))
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
	switch {
	case len(names) == 0:
		return "no name at all"
	case len(names) > most:
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
