// Package vault is a certificate authority that plays the charms of vault and easyrsa.
package vault

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
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

// Defaults of the charm's config: default-ttl (8759h) and default-ca-ttl (87599h).
// Source: src/config.yaml of charm-vault.
const (
	DefaultTTL   = 8759 * time.Hour
	DefaultCATTL = 87599 * time.Hour
)

// backdated is how far NotBefore precedes the issue (not_before_duration of Vault's PKI engine).
const backdated = 30 * time.Second

// Options say what kind of authority it is. The zero value issues from a root,
// for the TTLs of vault's charm, with ECDSA keys.
type Options struct {
	// TTL is how long certificates are valid that Answer issues; 0 is DefaultTTL.
	// A negative one issues certificates that have expired.
	TTL time.Duration
	// CATTL is how long the authority itself is valid; 0 is DefaultCATTL.
	CATTL time.Duration
	// Chain issues from an intermediate and publishes it as `chain`, as vault does
	// after the action upload-signed-csr.
	Chain bool
	// RSA makes keys of 2048 bits in PKCS#1, as vault does. They take much longer
	// than the ECDSA keys that are made otherwise.
	RSA bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// CA is a certificate authority with what it has issued. It can be used by
// several units at the same time.
type CA struct {
	options Options
	root    signer
	// issuing is the root or, with a chain, the intermediate.
	issuing signer

	mu     sync.Mutex
	issued map[request]pair
	// firsts are the answers that have keys of their own, by unit.
	firsts map[string]pair
}

type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// New returns an authority whose certificate bears the name. Two with one name are two
// authorities with keys of their own, as if vault had generated a new root. It
// panics if the machine has no randomness.
func New(name string) *CA { return NewWith(name, Options{}) }

// NewWith is New with options.
func NewWith(name string, o Options) *CA {
	c := &CA{options: o.complete(), issued: map[request]pair{}, firsts: map[string]pair{}}
	c.root = c.authority(name, nil)
	c.issuing = c.root
	if o.Chain {
		c.issuing = c.authority(name+" Intermediate", &c.root)
	}
	return c
}

func (o Options) complete() Options {
	o.TTL, o.CATTL = cmp.Or(o.TTL, DefaultTTL), cmp.Or(o.CATTL, DefaultCATTL)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// authority makes a CA certificate, signed by parent or by itself.
func (c *CA) authority(name string, parent *signer) signer {
	now := c.options.Now()
	key := c.newKey()
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-backdated).Add(min(c.options.CATTL, 0)),
		NotAfter:              now.Add(c.options.CATTL),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if parent == nil {
		parent = &signer{template, key}
	}
	return signer{parse(must(x509.CreateCertificate(rand.Reader, template, parent.certificate, key.Public(), parent.key))), key}
}

// Issue makes a key and a certificate for it, both in PEM, as vault's role for servers does: for server and client
// authentication, the common name among the names, no newline at the end.
func (c *CA) Issue(cn string, sans []string, notBefore, notAfter time.Time) (certPEM, keyPEM string) {
	key := c.newKey()
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
	der := must(x509.CreateCertificate(rand.Reader, template, c.issuing.certificate, key.Public(), c.issuing.key))
	return encode("CERTIFICATE", der), encodeKey(key)
}

// SetTTL has Answer issue certificates for another time from now on.
func (c *CA) SetTTL(ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options.TTL = ttl
}

// Renew issues the certificate again, for the same key and names: another serial
// number, valid from now for the TTL. It panics if certPEM is no certificate.
func (c *CA) Renew(certPEM []byte) []byte {
	block, _ := pem.Decode(certPEM)
	if block == nil {
		panic("cannot renew what is no certificate")
	}
	template, now := parse(block.Bytes), c.options.Now()
	public := template.PublicKey
	template.SerialNumber, template.NotBefore, template.NotAfter = serial(), now.Add(-backdated), now.Add(c.options.TTL)
	der := must(x509.CreateCertificate(rand.Reader, template, c.issuing.certificate, public, c.issuing.key))
	return []byte(encode("CERTIFICATE", der))
}

// PEM returns the root's certificate, the value of `ca` on the relation.
func (c *CA) PEM() string { return encode("CERTIFICATE", c.root.certificate.Raw) }

// ChainPEM returns the intermediate's certificate, or empty.
func (c *CA) ChainPEM() string {
	if !c.options.Chain {
		return ""
	}
	return encode("CERTIFICATE", c.issuing.certificate.Raw)
}

func (c *CA) newKey() crypto.Signer {
	if c.options.RSA {
		return must(rsa.GenerateKey(rand.Reader, 2048))
	}
	return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
}

func serial() *big.Int { return must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))) }

func encodeKey(key crypto.Signer) string {
	if k, ok := key.(*rsa.PrivateKey); ok {
		return encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k))
	}
	return encode("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key.(*ecdsa.PrivateKey))))
}

func encode(kind string, der []byte) string {
	return strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

func parse(der []byte) *x509.Certificate { return must(x509.ParseCertificate(der)) }

// must is for what fails only if this package is wrong or the machine is
// broken.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("cannot play the certificate authority: %v", err))
	}
	return v
}
