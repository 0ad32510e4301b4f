package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/vault"
)

// Credentials are the files of a client or server, as OVN's programs take them.
type Credentials struct{ Key, Certificate, CA string }

// validity is how long certificates are valid that the lab itself issues: longer
// than the 30 days before whose end the charm warns.
const validity = 365 * 24 * time.Hour

// clientName is the common name of the lab's client.
const clientName = "ovn-lab"

// ahead is how many certificates are issued before the authority's key, which is
// kept nowhere, ends with its program: so many units an opened lab can lay out.
const ahead = 32

// CA is the authority that has issued the certificates of the units which the lab
// laid out. It plays vault for the others too. A lab that was opened has none.
func (l *Lab) CA() *vault.CA { return l.ca }

// ClientCredentials are those by which a client connects to any unit.
func (l *Lab) ClientCredentials() Credentials { return l.credentials(clientName) }

func (l *Lab) credentials(name string) Credentials {
	base := filepath.Join(l.dir, "certificates", name)
	return Credentials{Key: base + ".key", Certificate: base + ".crt", CA: filepath.Join(l.dir, "certificates", "ca.crt")}
}

// foundCA makes the authority and the client's certificate.
func (l *Lab) foundCA() error {
	l.ca = vault.New("ovn-lab-ca")
	c := l.ClientCredentials()
	if err := os.MkdirAll(filepath.Dir(c.CA), 0o755); err != nil {
		return fmt.Errorf("cannot make the lab's authority: %w", err)
	}
	if err := os.WriteFile(c.CA, []byte(l.ca.PEM()), 0o644); err != nil {
		return fmt.Errorf("cannot make the lab's authority: %w", err)
	}
	return l.issue(clientName)
}

// issue makes a key and certificate for a name and addresses, unless they were
// made before. The first address names the files where there is no other name.
func (l *Lab) issue(name string, addresses ...string) error {
	c := l.credentials(name)
	if _, err := os.Stat(c.Certificate); err == nil {
		return nil
	}
	if l.ca == nil {
		return fmt.Errorf("cannot issue a certificate for %s: the authority ended with the program that made the lab", name)
	}
	now := time.Now()
	certificate, key := l.ca.Issue(name, addresses, now.Add(-time.Minute), now.Add(validity))
	err := errors.Join(os.WriteFile(c.Key, []byte(key), 0o600), os.WriteFile(c.Certificate, []byte(certificate), 0o644))
	if err != nil {
		return fmt.Errorf("cannot issue a certificate for %s: %w", name, err)
	}
	return nil
}

// issueAhead issues the certificates of the units that have none, and of those that
// may come after [Open].
func (l *Lab) issueAhead() error {
	if l.ca == nil {
		return nil
	}
	last := 0
	for _, u := range l.Units() {
		last = max(last, u.number)
	}
	for host := firstHost; host < firstHost+last+ahead; host++ {
		addresses := []string{address4(host), address6(host)}
		if err := l.issue(addresses[0], addresses...); err != nil {
			return err
		}
	}
	return nil
}

// clientEnvironment has ovn-nbctl and ovn-sbctl use the client's credentials: they
// put these variables before their arguments.
func (l *Lab) clientEnvironment() []string {
	c := l.ClientCredentials()
	options := fmt.Sprintf("--private-key=%s --certificate=%s --ca-cert=%s", c.Key, c.Certificate, c.CA)
	return []string{"OVN_NBCTL_OPTIONS=" + options, "OVN_SBCTL_OPTIONS=" + options}
}

// own are the files of the unit's own credentials: the names that the Python
// charm gives them.
func own(m *machine.Machine) Credentials {
	return Credentials{
		Key: filepath.Join(m.ConfDir(), "key_host"), Certificate: filepath.Join(m.ConfDir(), "cert_host"),
		CA: filepath.Join(m.ConfDir(), "ovn-central.crt"),
	}
}

// installCredentials issues a unit's certificate and puts the files in place.
func (u *Unit) installCredentials() error {
	addresses := append([]string{u.Address()}, u.machine.Others...)
	if err := u.lab.issue(u.Address(), addresses...); err != nil {
		return err
	}
	from, to := u.lab.credentials(u.Address()), own(u.machine)
	for source, target := range map[string]string{from.Key: to.Key, from.Certificate: to.Certificate, from.CA: to.CA} {
		text, err := os.ReadFile(source)
		if err == nil {
			err = os.WriteFile(target, text, 0o600)
		}
		if err != nil {
			return fmt.Errorf("cannot install the certificate of %s: %w", u.name, err)
		}
	}
	return errors.Join(os.Chmod(to.Certificate, 0o644), os.Chmod(to.CA, 0o644))
}
