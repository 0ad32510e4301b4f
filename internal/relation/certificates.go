package relation

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// CertificateRequest is what a unit asks of the provider on [Certificates]: one
// certificate for everything that it serves and is. The interface is
// tls-certificates, version 1, as vault and easyrsa speak it.
type CertificateRequest struct {
	// Unit is the unit that asks, ovn-central/0.
	Unit string
	// CommonName has to be the unit's own: easyrsa keeps one certificate per
	// common name and revokes the other. OpenSSL takes 64 characters at most
	// (ub-common-name of RFC 5280).
	CommonName string
	// SANs are the names and addresses (without brackets) that the certificate
	// is to be valid for. easyrsa adds nothing to them, vault the common name: so
	// a common name that clients dial has to be among them.
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

// Keys of the answer; those with a dot follow the unit's name.
const (
	keyCA         = "ca"
	keyChain      = "chain"
	keyServerCert = ".server.cert"
	keyServerKey  = ".server.key"
	keyProcessed  = ".processed_requests"
)

// unitName is the unit's name as it stands in keys and values of the interface.
func (r CertificateRequest) unitName() string { return strings.ReplaceAll(r.Unit, "/", "_") }

// Databag is the request as the unit's data, in full: the first request of a unit has
// keys of its own, and the key for more of them is taken away. The same request
// gives the same bytes, in whatever order its SANs are: providers issue a new
// certificate whenever they change.
func (r CertificateRequest) Databag() map[string]string {
	sans := slices.Clone(r.SANs)
	slices.Sort(sans)
	return map[string]string{
		keyUnitName:   r.unitName(),
		keyCommonName: r.CommonName,
		keySANs:       jsonList(slices.Compact(sans)),
		// Any name will do, as long as it stays: no provider reads it any more.
		keyCertificateName: r.unitName(),
		keyMoreRequests:    "",
	}
}

// jsonList is a list as Python writes it, with blanks, so that a unit that goes
// on after the charm before this one publishes what already stands there.
func jsonList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		b, _ := json.Marshal(s) // a string always marshals
		quoted[i] = string(b)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// ParseRequest reads the request that a unit itself has published, maybe by the
// charm before this one. found is false where there is none, or one that can't be
// read and has to be made anew. It lets a unit keep a request that still covers
// it, since every other one brings a new certificate.
func ParseRequest(unit string, databag map[string]string) (r CertificateRequest, found bool) {
	r = CertificateRequest{Unit: unit, CommonName: databag[keyCommonName]}
	if r.CommonName == "" || json.Unmarshal([]byte(databag[keySANs]), &r.SANs) != nil || databag[keyUnitName] != r.unitName() {
		return CertificateRequest{}, false
	}
	return r, true
}

// Issued is a provider's answer, in PEM. It may be an answer to an older request:
// the names in the certificate tell.
type Issued struct {
	Certificate, Key string
	// CA is the root, Chain what stands between it and the certificate; easyrsa
	// publishes no chain.
	CA, Chain string
}

// Format keeps the key out of whatever is printed.
func (Issued) Format(f fmt.State, _ rune) { fmt.Fprint(f, "(an issued certificate)") }

// LogValue keeps the key out of logs.
func (i Issued) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(i)) }

// ErrAnswer is wrapped by the errors of [ParseIssued]. None of them quotes what
// was published, which may be a key.
var ErrAnswer = errors.New("the provider's answer can't be read")

// ParseIssued reads the answer to r from the data of one of the provider's units.
// found is false while there is none, or it is not complete: the certificate and
// the CA may come one after the other. With several units of a provider, those
// that don't lead follow the leader, so their answers may be older.
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
		return Issued{}, false, fmt.Errorf("%w: it has a key for %s, but no certificate", ErrAnswer, r.Unit)
	case issued.Key == "":
		return Issued{}, false, fmt.Errorf("%w: it has a certificate for %s, but no key", ErrAnswer, r.Unit)
	}
	return issued, true, nil
}

// processed looks for the answer among those to a unit's further requests: there
// it stands where the charm before this one had made another request first.
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
		return "", "", fmt.Errorf("%w: %s is not a JSON object of certificates", ErrAnswer, unit+keyProcessed)
	}
	answer := answers[commonName]
	return answer.Certificate, answer.Key, nil
}
