package tls

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"time"
)

// Bundle merges CA files in PEM. The result has each authority's certificate once, in the order of their first
// appearance, without those that have expired at time now. Empty parts are permitted. Bundle returns an error if a part
// is malformed.
//
// When the authority changes, a unit trusts both authorities until each of its peers has a certificate of the new one.
// It uses a certificate of the new authority only after each of its peers trusts that authority.
func Bundle(now time.Time, parts ...[]byte) ([]byte, error) {
	var bundle bytes.Buffer
	seen := map[string]bool{}
	for _, part := range parts {
		if len(bytes.TrimSpace(part)) == 0 {
			continue
		}
		certificates, err := parseCertificates(part)
		if err != nil {
			return nil, fmt.Errorf("cannot bundle CA certificates: %w", err)
		}
		for _, c := range certificates {
			if id := fingerprint(c); !seen[id] && trusted(c, now) {
				seen[id] = true
				_ = pem.Encode(&bundle, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // a buffer never fails
			}
		}
	}
	return bundle.Bytes(), nil
}

// trusted reports whether c is an authority that has not expired. Certificates of version 1, such as old roots, can't
// declare that they are authorities.
func trusted(c *x509.Certificate, now time.Time) bool {
	return (c.Version < 3 || c.BasicConstraintsValid && c.IsCA) && !now.After(c.NotAfter)
}

func fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// quote quotes and shortens a certificate's text.
func quote(name string) string { return fmt.Sprintf("%.64q", name) }
