package deployment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

func TestCertificates_renewal_and_CA_change_keep_servers(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{JujuVersion: lab.Juju4})
	for _, u := range units {
		info, err := os.Stat(filepath.Join(u.SysconfDir(), "ovn", "key_host"))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), "the key is root's")
	}
	before, old := c.Processes(units...), c.ClientCredentials()
	var open []*stream
	for _, u := range units {
		open = append(open,
			follow(c, u, 6641, "OVN_Northbound", "NB_Global", "external_ids", old),
			follow(c, u, 16642, "OVN_Southbound", "SB_Global", "external_ids", old))
	}
	w := c.StartWriter(t.Context(), 0)

	// The same authority issues a new certificate.
	locks, seen := holders(c, units[0]), watchCertificates(t, units)
	first := map[string]string{}
	for _, u := range units {
		first[u.Name()] = c.FileOf(u, "cert_host")
	}
	c.CA().Reissue()
	c.Issue(c.CA(), nil)
	seen.end()
	kinds, who := seen.order()
	assert.Equal(t, []string{"certificate", "certificate", "certificate"}, kinds)
	assert.Equal(t, who, turns(t, locks), "each in its turn")
	assert.Empty(t, seen.broken)
	for _, u := range units {
		c.RequireActive(u)
		assert.NotEqual(t, first[u.Name()], c.FileOf(u, "cert_host"), u.Name())
		assert.Equal(t, c.FileOf(u, "cert_host"), served(c, u, 6641, old), "the server has loaded it")
	}
	w.Stop() // its client knows only the old authority
	c.Verify(w)

	// Another authority takes over. Clients that know both can always connect.
	next := vault.New("next-ca")
	both := credentialsOf(t, "client", next, c.CA(), next)
	locks, seen = holders(c, units[0]), watchCertificates(t, units)
	writing := c.StartWriterAs(t.Context(), 50*time.Millisecond, both)
	c.Issue(next, nil)
	c.Tick("the old CA is dropped", func() bool {
		return !slices.ContainsFunc(units, func(u *lab.Unit) bool {
			return strings.Contains(text(u, "ovn-central.crt"), strings.TrimSpace(c.CA().PEM()))
		})
	})
	seen.end()
	kinds, who = seen.order()
	assert.Equal(t, []string{
		"2 CAs", "2 CAs", "2 CAs", "certificate", "certificate", "certificate", "1 CAs", "1 CAs", "1 CAs",
	}, kinds, "first all trust, then all use the new one, then all drop the old one")
	assert.Equal(t, slices.Compact(who), turns(t, locks), "each in its turn")
	assert.Empty(t, seen.broken, "every unit trusts every other one all the time")
	c.Verify(writing)

	for _, u := range units {
		c.RequireActive(u)
		assert.Equal(t, next.PEM()+"\n", c.FileOf(u, "ovn-central.crt"), "of the old CA nothing is left")
		assert.Equal(t, c.FileOf(u, "cert_host"), served(c, u, 6641, both))
		assert.Equal(t, c.FileOf(u, "cert_host"), served(c, u, 16642, both))
	}
	assert.Equal(t, before, c.Processes(units...), "no server was restarted, and no election was held")
	_, err := c.Exec(t.Context(), "ovn-nbctl", with(both, "--db="+units[0].Client(lab.NB), "set", "NB_Global", ".", "external_ids:seen=at-the-end")...)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "ovn-sbctl", with(both, "--db="+units[0].Client(lab.SB), "set", "SB_Global", ".", "external_ids:seen=at-the-end")...)
	require.NoError(t, err)
	for _, s := range open {
		s.shows("at-the-end")
	}
}

// OVNCentralSSLExpireTests: a certificate that expires while it is in use is reported, and a new one repairs that.
// The next hook rewrites a certificate that is damaged on the disk, without an operator.
func TestCertificates_expired_or_damaged_are_replaced(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{JujuVersion: lab.Juju4})
	u := units[0]
	before := c.Processes(u)
	c.Issue(vault.NewWith("shorter", vault.Options{TTL: 10 * time.Second}), nil)
	c.RequireActive(u)
	c.Tick("a certificate that has expired", func() bool {
		if u.Workload().Status == "blocked" {
			return true
		}
		c.Wait(time.Second) // it expires by time alone
		return false
	})
	c.Says(u, "blocked", "certificate verify failed: certificate has expired")
	c.Issue(c.CA(), nil)
	c.RequireActive(u)
	c.RequireWritable()

	used := c.FileOf(u, "cert_host")
	for name, spoil := range map[string]func(path string) error{
		"half of it": func(path string) error { return os.WriteFile(path, []byte(used[:len(used)/2]), 0o600) },
		"gone":       os.Remove,
	} {
		require.NoError(t, spoil(filepath.Join(u.SysconfDir(), "ovn", "cert_host")))
		require.NoError(t, c.UpdateStatus(t.Context()))
		assert.Equal(t, used, c.FileOf(u, "cert_host"), name)
		c.Says(u, "active")
	}
	assert.Equal(t, before, c.Processes(u), "no server was restarted")
}

// credentialsOf returns the credentials of a client with this name: its certificate is from the first authority, and
// it trusts the others.
func credentialsOf(t *testing.T, name string, from *vault.CA, trusted ...*vault.CA) lab.Credentials {
	t.Helper()
	dir, now, cas := t.TempDir(), time.Now(), ""
	for _, ca := range trusted {
		cas += ca.PEM() + "\n"
	}
	certificate, key := from.Issue(name, nil, now.Add(-time.Minute), now.Add(24*time.Hour))
	files := lab.Credentials{Key: filepath.Join(dir, "key"), Certificate: filepath.Join(dir, "certificate"), CA: filepath.Join(dir, "ca")}
	for path, text := range map[string]string{files.Key: key, files.Certificate: certificate, files.CA: cas} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return files
}

// with puts a client's credentials before the rest of a command. The lab's own credentials come first, so these
// override them.
func with(files lab.Credentials, rest ...string) []string {
	return slices.Concat([]string{"--timeout=20"}, files.Options(), rest)
}

// served returns the certificate that a port presents, in the form of the file.
func served(c *labtest.Model, u *lab.Unit, port int, files lab.Credentials) string {
	c.T.Helper()
	out, err := c.Exec(c.Patient(), "sh", "-c", fmt.Sprintf(
		"openssl s_client -connect %s:%d -key %s -cert %s -CAfile %s </dev/null 2>/dev/null | openssl x509",
		bracketed(u.Address()), port, files.Key, files.Certificate, files.CA))
	require.NoError(c.T, err)
	return strings.TrimSpace(out)
}
