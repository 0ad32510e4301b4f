package deployment

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// The certificates of one unit are enough to see what it makes of each.
func TestCertificateThatCanNotBeUsedIsNamedAndReissuingRepairsIt(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju4})
	u := c.AddFresh(1)[0]
	c.Says(u, "blocked", "'certificates' missing; run: juju integrate ovn-central:certificates vault")

	c.RelateSealedVault()
	c.Says(u, "waiting", "'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data", "from vault/0 for "+u.Address())
	assert.NoFileExists(t, u.DBFile(lab.NB), "nothing is created before there is a certificate")

	expired, other := vault.NewWith("old", vault.Options{TTL: -time.Hour}), vault.New("other")
	half := func(text string) string { return text[:len(text)/2] }
	wrong := []struct {
		name  string
		from  *vault.CA
		alter func(unit string, answer map[string]string)
		says  string
	}{
		{"half a certificate", c.CA(), func(unit string, a map[string]string) { a[unit+".server.cert"] = half(a[unit+".server.cert"]) }, "certificate can't be read"},
		{"half a key", c.CA(), func(unit string, a map[string]string) { a[unit+".server.key"] = half(a[unit+".server.key"]) }, "key of the certificate can't be read"},
		{"half a CA", c.CA(), func(_ string, a map[string]string) { a["ca"] = half(a["ca"]) }, "CA certificate can't be read"},
		{"another key", c.CA(), func(unit string, a map[string]string) {
			_, a[unit+".server.key"] = other.Issue("x", nil, time.Now(), time.Now().Add(time.Hour))
		}, "certificate is for another key"},
		{"another CA", c.CA(), func(_ string, a map[string]string) { a["ca"] = other.PEM() }, `its issuer is "ovn-lab-ca", given are "other"`},
		{"another address", c.CA(), func(unit string, a map[string]string) {
			a[unit+".server.cert"], a[unit+".server.key"] = c.CA().Issue("x", []string{"10.99.0.99"}, time.Now(), time.Now().Add(time.Hour))
		}, "certificate is for x, 10.99.0.99, this unit is " + u.Address()},
		{"expired", expired, nil, "certificate has expired on "},
	}
	for _, w := range wrong {
		c.Issue(w.from, w.alter)
		c.Says(u, "blocked")
		assert.Contains(t, c.Finds(u, finding.CertificateUnusable, "").Message, w.says)
		assert.NoFileExists(t, u.DBFile(lab.NB), w.name)
		assert.NoFileExists(t, filepath.Join(u.SysconfDir(), "ovn", "key_host"), w.name)
	}
	c.Issue(c.CA(), nil)
	c.RequireActive(u)

	before, used := c.Processes(u), c.FileOf(u, "cert_host")
	for _, w := range wrong {
		c.Issue(w.from, w.alter)
		c.Says(u, "blocked", w.says)
		c.RunUpdateStatus(u)
		c.Says(u, "blocked", w.says)
		c.Finds(u, finding.CertificateNewUnusable, "")
		assert.Equal(t, used, c.FileOf(u, "cert_host"), w.name)
		c.RequireWritable()
	}
	c.Issue(c.CA(), nil)
	c.RequireActive(u)

	c.Issue(vault.NewWith("short", vault.Options{TTL: 20 * 24 * time.Hour}), nil)
	c.RequireActive(u)
	c.Says(u, "active", time.Now().UTC().Add(20*24*time.Hour).Format(time.DateOnly))
	c.Finds(u, finding.CertificateExpires, "")
	c.Issue(c.CA(), nil)
	c.FindsNone(u, finding.CertificateExpires, finding.CertificateChanges)

	// One that ends while it is in use.
	c.Issue(vault.NewWith("shorter", vault.Options{TTL: 10 * time.Second}), nil)
	c.RequireActive(u)
	c.Tick("a certificate that has expired", func() bool {
		if u.Workload().Status == "blocked" {
			return true
		}
		c.Wait(time.Second) // it comes by time alone
		return false
	})
	c.Says(u, "blocked", "certificate verify failed: certificate has expired")
	c.Issue(c.CA(), nil)
	c.RequireActive(u)
	c.RequireWritable()

	require.NoError(t, c.Unrelate(t.Context(), c.Certificates))
	c.Says(u, "blocked", "'certificates' missing")
	c.RequireWritable()
	assert.NotEmpty(t, c.FileOf(u, "cert_host"), "the one in use goes on being used")
	c.RelateSealedVault()
	c.RequireActive(u)
	assert.Equal(t, before, c.Processes(u), "no server was restarted")

	// As an operator may give vault them: action upload-signed-csr takes a bundle.
	c.run("a root that has expired beside the valid one is nothing to wait for", func(c *cloud) {
		t := c.T
		used, root := c.FileOf(u, "cert_host"), vault.NewWith("old-root", vault.Options{CATTL: -time.Hour})
		c.CA().Reissue()
		c.Issue(c.CA(), func(_ string, a map[string]string) { a["ca"] = root.PEM() + "\n" + c.CA().PEM() })
		c.RequireActive(u)
		assert.NotEqual(t, used, c.FileOf(u, "cert_host"), "nothing is wrong with what was issued")
		from := labtest.HookLogSize(t, u)
		require.NoError(t, c.RunHook(t.Context(), u, "config-changed"))
		assert.NotContains(t, labtest.HookLogFrom(t, u, from), "trust the CA", "the next hook has nothing to write")
		c.RequireActive(u)
	})

	// Nothing is wrong with what was issued: no operator is to have it issued again.
	c.run("one that is spoiled on the disk is written anew by the next hook", func(c *cloud) {
		t := c.T
		require.NoError(t, c.UpdateStatus(t.Context()))
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
	})
}
