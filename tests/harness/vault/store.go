package vault

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/gob"
)

// stored is a CA in the form in which another process reads it. [Options].Now is lost.
type stored struct {
	Options       Options
	Root, Issuing storedSigner
	Issued        map[request]pair
	Firsts        map[string]pair
}

type storedSigner struct{ Certificate, Key []byte } // DER

// GobEncode implements [gob.GobEncoder].
func (c *CA) GobEncode() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(stored{c.options, c.root.stored(), c.issuing.stored(), c.issued, c.firsts})
	return text.Bytes(), err
}

// GobDecode implements [gob.GobDecoder].
func (c *CA) GobDecode(data []byte) error {
	s := stored{Issued: map[request]pair{}, Firsts: map[string]pair{}}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return err
	}
	c.options, c.root, c.issuing, c.issued, c.firsts = s.Options.complete(), s.Root.signer(), s.Issuing.signer(), s.Issued, s.Firsts
	return nil
}

func (s signer) stored() storedSigner {
	return storedSigner{s.certificate.Raw, must(x509.MarshalPKCS8PrivateKey(s.key))}
}

func (s storedSigner) signer() signer {
	return signer{parse(s.Certificate), must(x509.ParsePKCS8PrivateKey(s.Key)).(crypto.Signer)} //nolint:forcetypeassert // all keys are
}
