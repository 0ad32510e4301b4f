// Package vault is a certificate authority that plays the provider of the
// certificates relation, as the charms of vault and easyrsa do.
package vault

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"
)

// Defaults of the charm's config: default-ttl (8759h) and default-ca-ttl (87599h). Source: src/config.yaml of charm-vault.
const (
	defaultTTL = 8759 * time.Hour
	caTTL      = 87599 * time.Hour
)

// backdated is how far before its issue a certificate begins to be valid, for
// clocks that are behind. Source: not_before_duration of Vault's PKI engine.
const backdated = 30 * time.Second

// Options of an authority. The zero value has the TTL of vault's charm.
type Options struct {
	// TTL is how long the certificates of Answer are valid; 0 is the default of the charm. Those of a negative TTL have
	// expired.
	TTL time.Duration
}

// CA is a certificate authority with what it has issued. Several units can use it at the same time.
type CA struct {
	options     Options
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey

	mu     sync.Mutex
	issued map[request]pair
	// firsts are the answers that have keys of their own, by unit.
	firsts map[string]pair
}

// New makes an authority whose certificate has this name. Two with the same name have different keys, as if vault had
// generated a new root. New panics if the machine has no randomness.
func New(name string) *CA { return NewWith(name, Options{}) }

// NewWith is New with options.
func NewWith(name string, o Options) *CA {
	o.TTL = cmp.Or(o.TTL, defaultTTL)
	c := &CA{options: o, key: newKey(), issued: map[request]pair{}, firsts: map[string]pair{}}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-backdated),
		NotAfter:              now.Add(caTTL),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	c.certificate = must(x509.ParseCertificate(must(x509.CreateCertificate(rand.Reader, template, template, c.key.Public(), c.key))))
	return c
}

// Issue makes a key and a certificate for it, both in PEM, as vault's role for
// servers does: for server and client authentication, the common name among the
// names, no newline at the end.
func (c *CA) Issue(cn string, sans []string, notBefore, notAfter time.Time) (certPEM, keyPEM string) {
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: cn},
		NotBefore:    notBefore,
		NotAfter:     notAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	seen := map[string]bool{}
	for _, san := range append([]string{cn}, sans...) {
		if seen[san] || san == "" {
			continue
		}
		seen[san] = true
		if ip := net.ParseIP(san); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, san)
		}
	}
	der := must(x509.CreateCertificate(rand.Reader, template, c.certificate, key.Public(), c.key))
	return encode("CERTIFICATE", der), encode("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key)))
}

// SetTTL has Answer issue certificates for another time from now on.
func (c *CA) SetTTL(ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options.TTL = ttl
}

// PEM is the authority's certificate, the value of `ca` on the relation.
func (c *CA) PEM() string { return encode("CERTIFICATE", c.certificate.Raw) }

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// serial is a random number of 127 bits.
func serial() *big.Int { return must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))) }

func encode(kind string, der []byte) string {
	return strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

// must is for what fails only if this package is wrong or the machine is
// broken.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("cannot play the certificate authority: %v", err))
	}
	return v
}
