package relation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// CertificateRequest is a unit's request to the provider on [Certificates]: one certificate for all purposes. The
// interface is tls-certificates, version 1, as vault and easyrsa implement it.
type CertificateRequest struct {
	// Unit is the requesting unit, ovn-central/0.
	Unit string
	// CommonName has to be unique: easyrsa keeps one certificate per common name and revokes others. OpenSSL limits it
	// to 64 characters (ub-common-name of RFC 5280).
	CommonName string
	// SANs are the names and addresses (without brackets) of the certificate. easyrsa adds nothing to them, vault adds
	// the common name. So if clients dial the common name, it must be among the SANs.
	SANs []string
}

// Keys of the request. Source: requires.py of interface-tls-certificates.
const (
	keyUnitName        = "unit_name"
	keyCommonName      = "common_name"
	keySANs            = "sans"
	keyCertificateName = "certificate_name"
	keyMoreRequests    = "cert_requests"
)

// Keys of the answer. Keys with a dot follow the unit's name.
const (
	keyCA         = "ca"
	keyChain      = "chain"
	keyServerCert = ".server.cert"
	keyServerKey  = ".server.key"
	keyProcessed  = ".processed_requests"
)

// unitName returns the unit's name in keys and values of the interface.
func (r CertificateRequest) unitName() string { return strings.ReplaceAll(r.Unit, "/", "_") }

// Databag returns the request as the unit's complete data: a unit's first request has its own keys, and the key for
// further requests is removed. Equal requests give equal bytes, in any order of SANs: if the bytes change, providers
// issue a new certificate.
func (r CertificateRequest) Databag() map[string]string {
	sans := slices.Clone(r.SANs)
	slices.Sort(sans)
	return map[string]string{
		keyUnitName:   r.unitName(),
		keyCommonName: r.CommonName,
		keySANs:       jsonList(slices.Compact(sans)),
		// Any fixed name will do: no provider reads it.
		keyCertificateName: r.unitName(),
		keyMoreRequests:    "",
	}
}

// jsonList formats a list as Python does, with blanks. So a unit that was upgraded from the previous charm publishes
// the same bytes.
func jsonList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		b, _ := json.Marshal(s) // strings always marshal
		quoted[i] = string(b)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// ParseRequest parses the request that a unit itself has published, maybe with the previous charm. found is false if
// there is none, or if it is malformed and has to be replaced. A unit can keep a request that still fits; any other
// request brings a new certificate.
func ParseRequest(unit string, databag map[string]string) (r CertificateRequest, found bool) {
	r = CertificateRequest{Unit: unit, CommonName: databag[keyCommonName]}
	if r.CommonName == "" || json.Unmarshal([]byte(databag[keySANs]), &r.SANs) != nil ||
		databag[keyUnitName] != r.unitName() {
		return CertificateRequest{}, false
	}
	return r, true
}

// Issued is a provider's answer, in PEM. It may belong to an older request; the names in the certificate show that.
type Issued struct {
	Certificate, Key string
	// CA is the root, Chain the intermediate certificates; easyrsa publishes none.
	CA, Chain string
}

// Format keeps the key out of printed text.
func (Issued) Format(f fmt.State, _ rune) { fmt.Fprint(f, "(an issued certificate)") }

// MarshalText keeps the key out of logs.
func (i Issued) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(i)), nil }

// unreadable returns the error for an answer. It does not quote the published data, which may contain a private key.
func unreadable(why, of string) error {
	return fmt.Errorf("the provider's answer can't be read: "+why, of)
}

// ParseIssued parses the answer to r from the data of one of the provider's units. found is false while the answer is
// missing or incomplete: the certificate and the CA may arrive one after the other. A provider's other units follow
// its leader, so their answers may be older.
func ParseIssued(databag map[string]string, r CertificateRequest) (issued Issued, found bool, err error) {
	unit := r.unitName()
	issued = Issued{
		Certificate: databag[unit+keyServerCert],
		Key:         databag[unit+keyServerKey],
		CA:          databag[keyCA],
		Chain:       databag[keyChain],
	}
	if issued.Certificate == "" && issued.Key == "" {
		if issued.Certificate, issued.Key, err = processed(databag, unit, r.CommonName); err != nil {
			return Issued{}, false, err
		}
	}
	switch {
	case issued.Certificate == "" && issued.Key == "" || issued.CA == "":
		return Issued{}, false, nil
	case issued.Certificate == "":
		return Issued{}, false, unreadable("it has a key for %s, but no certificate", r.Unit)
	case issued.Key == "":
		return Issued{}, false, unreadable("it has a certificate for %s, but no key", r.Unit)
	}
	return issued, true, nil
}

// processed looks for the answer among those to a unit's further requests. It is there if the previous charm had made
// another request first.
func processed(databag map[string]string, unit, commonName string) (certificate, key string, err error) {
	text := databag[unit+keyProcessed]
	if text == "" {
		return "", "", nil
	}
	var answers map[string]struct {
		Certificate string `json:"cert"`
		Key         string `json:"key"`
	}
	if json.Unmarshal([]byte(text), &answers) != nil {
		return "", "", unreadable("%s is not a JSON object of certificates", unit+keyProcessed)
	}
	answer := answers[commonName]
	return answer.Certificate, answer.Key, nil
}
