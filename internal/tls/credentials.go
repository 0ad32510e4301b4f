// Package tls checks whether the unit can use its key and certificates, and replaces their files under running servers.
//
// OVS's programs send their certificate without a chain, and trust chains that end at a self-signed certificate of
// their CA file. So that file must have the whole chain of every peer. Source: SSL_CTX_use_certificate_file, which
// reads one certificate, and SSL_CTX_load_verify_locations without X509_V_FLAG_PARTIAL_CHAIN, in lib/stream-ssl.c.
package tls

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Credentials are a key, its certificate, and the certificates of the trusted authorities, all in PEM.
type Credentials struct{ Key, Certificate, CA []byte }

// Format keeps the key out of printed text.
func (Credentials) Format(f fmt.State, _ rune) { fmt.Fprint(f, "(credentials)") }

// LogValue keeps the key out of logs.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// parsePEM parses all blocks of data. Text around them is permitted: easyrsa writes some. Unlike pem.Decode, parsePEM
// does not skip damaged or truncated blocks, even if the first line is truncated.
func parsePEM(data []byte) ([]*pem.Block, error) {
	var blocks []*pem.Block
	start := bytes.Count(data, []byte("-----BEGIN"))
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		blocks = append(blocks, block)
		data = rest
	}
	switch {
	case len(blocks) == 0 && start == 0:
		return nil, errors.New("it has no PEM block")
	case len(blocks) != start || bytes.HasPrefix(bytes.TrimSpace(data), []byte("-")) ||
		bytes.Contains(data, []byte("\n-")):
		return nil, errors.New("it is cut off or damaged")
	}
	return blocks, nil
}

// parseCertificates parses data, which must have nothing but certificates.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	blocks, err := parsePEM(data)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for _, b := range blocks {
		if b.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it holds a %s", strings.ToLower(b.Type))
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("it holds a certificate that can't be read: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

// parseKey parses data, which must have exactly one key. Its errors don't quote data.
func parseKey(data []byte) (crypto.Signer, error) {
	blocks, err := parsePEM(data)
	if err != nil {
		return nil, err
	}
	if blocks[0].Type == "EC PARAMETERS" { // openssl ecparam -genkey writes them first
		blocks = blocks[1:]
	}
	if len(blocks) != 1 || !strings.HasSuffix(blocks[0].Type, "PRIVATE KEY") {
		return nil, errors.New("it is not one private key")
	}
	if blocks[0].Type == "ENCRYPTED PRIVATE KEY" || blocks[0].Headers["DEK-Info"] != "" {
		return nil, errors.New("it is encrypted")
	}
	der := blocks[0].Bytes
	if k, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		if s, ok := k.(crypto.Signer); ok {
			return s, nil
		}
	}
	if k, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParseECPrivateKey(der); err == nil {
		return k, nil
	}
	return nil, errors.New("it is damaged or of a kind that isn't known")
}

// samePublicKey reports whether the certificate is for the key.
func samePublicKey(c *x509.Certificate, key crypto.Signer) bool {
	public, ok := c.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(key.Public())
}
