package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// Credentials are the files of a client or server, in the form that OVN's programs take.
type Credentials struct{ Key, Certificate, CA string }

// Options returns the options of OVN's clients that name the files.
func (c Credentials) Options() []string {
	return []string{"--private-key=" + c.Key, "--certificate=" + c.Certificate, "--ca-cert=" + c.CA}
}

// validity is the lifetime of the lab's own certificates: longer than the 30 days before whose end the charm warns.
const validity = 365 * 24 * time.Hour

const clientName = "ovn-lab"

// CA returns the authority that issued the certificates of laid-out units, and issues those of the others as vault
// does.
func (l *Lab) CA() *vault.CA { return l.ca }

// ClientCredentials returns the credentials with which a client connects to any unit.
func (l *Lab) ClientCredentials() Credentials {
	base := filepath.Join(l.o.Dir, "client")
	return Credentials{Key: base + ".key", Certificate: base + ".crt", CA: base + "-ca.crt"}
}

func (l *Lab) foundCA() error {
	l.ca = vault.New("ovn-lab-ca")
	certificate, key := l.issue(clientName)
	return l.install(l.ClientCredentials(), certificate, key)
}

func (l *Lab) issue(name string, addresses ...string) (certificate, key string) {
	now := time.Now()
	return l.ca.Issue(name, addresses, now.Add(-time.Minute), now.Add(validity))
}

func (l *Lab) install(c Credentials, certificate, key string) error {
	err := errors.Join(os.WriteFile(c.Key, []byte(key), 0o600), os.WriteFile(c.Certificate, []byte(certificate), 0o644), os.WriteFile(c.CA, []byte(l.ca.PEM()), 0o644))
	if err != nil {
		return fmt.Errorf("cannot install a certificate: %w", err)
	}
	return nil
}

// clientEnvironment returns variables with the client's credentials, which ovn-nbctl and ovn-sbctl put before their
// arguments.
func (l *Lab) clientEnvironment() []string {
	options := strings.Join(l.ClientCredentials().Options(), " ")
	return []string{"OVN_NBCTL_OPTIONS=" + options, "OVN_SBCTL_OPTIONS=" + options}
}

// own returns the files of the unit's own credentials, with the Python charm's names.
func own(m *machine.Machine) Credentials {
	return Credentials{
		Key: filepath.Join(m.ConfDir(), "key_host"), Certificate: filepath.Join(m.ConfDir(), "cert_host"),
		CA: filepath.Join(m.ConfDir(), "ovn-central.crt"),
	}
}

func (u *Unit) installCredentials() error {
	if u.certificate == "" {
		u.certificate, u.key = u.lab.issue(u.Address(), append([]string{u.Address()}, u.Machine.Others...)...)
	}
	return u.lab.install(own(u.Machine), u.certificate, u.key)
}

// RelateCA relates the application to a vault that issues certificates of [Lab.CA]. A unit that the lab has laid out
// gets the certificate that it already has: it was issued to the previous charm.
func (l *Lab) RelateCA(ctx context.Context) (relation int, err error) {
	l.OnRemote(caEndpoint, l.issued)
	l.remotes.mu.Lock()
	l.remotes.issues = true
	l.remotes.mu.Unlock()
	return l.Relate(ctx, caEndpoint, caApp, 1)
}

// The relation of RelateCA.
const (
	caEndpoint = "certificates"
	caApp      = "vault"
)

func (l *Lab) issued(unit string, request map[string]string) map[string]string {
	u, err := l.Unit(unit)
	if err != nil {
		return nil
	}
	if u.certificate != "" {
		name := strings.ReplaceAll(unit, "/", "_")
		return map[string]string{"ca": l.ca.PEM(), name + ".server.cert": u.certificate, name + ".server.key": u.key}
	}
	answer, err := l.ca.Answer(unit, request)
	if err != nil {
		l.logf("vault: %v", err)
	}
	return answer
}
