package deployment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// issue has the provider answer anew, from another authority or with something
// else in the answer; a unit then has to live with it.
func (c *cloud) issue(t *testing.T, from *vault.CA, alter func(unit string, answer map[string]string)) {
	t.Helper()
	c.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
		answer, err := from.Answer(unit, bag)
		if err != nil {
			t.Errorf("vault: %v", err)
			return nil
		}
		if alter != nil {
			alter(strings.ReplaceAll(unit, "/", "_"), answer)
		}
		return answer
	})
	require.NoError(t, c.Settle(t.Context()))
}

// The certificates of one unit are enough to see what it makes of each.
func TestCertificateThatCanNotBeUsedIsNamedAndReissuingRepairsIt(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju4})
	u := c.addFresh(t, 1)[0]
	says(t, u, "blocked", "'certificates' missing; run: juju integrate ovn-central:certificates vault")

	id, err := c.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
	says(t, u, "waiting", "'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data from vault/0 for "+u.Address())
	assert.NoFileExists(t, u.DBFile(lab.NB), "nothing is created before there is a certificate")

	expired, other := vault.NewWith("old", vault.Options{TTL: -time.Hour}), vault.New("other")
	half := func(text string) string { return text[:len(text)/2] }
	wrong := []struct {
		name  string
		from  *vault.CA
		alter func(unit string, answer map[string]string)
		says  string
	}{
		{"half a certificate", c.vault, func(unit string, a map[string]string) { a[unit+".server.cert"] = half(a[unit+".server.cert"]) }, "certificate can't be read"},
		{"half a key", c.vault, func(unit string, a map[string]string) { a[unit+".server.key"] = half(a[unit+".server.key"]) }, "key of the certificate can't be read"},
		{"half a CA", c.vault, func(_ string, a map[string]string) { a["ca"] = half(a["ca"]) }, "CA certificate can't be read"},
		{"another key", c.vault, func(unit string, a map[string]string) {
			_, a[unit+".server.key"] = other.Issue("x", nil, time.Now(), time.Now().Add(time.Hour))
		}, "certificate is for another key"},
		{"another CA", c.vault, func(_ string, a map[string]string) { a["ca"] = other.PEM() }, `its issuer is "ovn-lab-ca", given are "other"`},
		{"another address", c.vault, func(unit string, a map[string]string) {
			a[unit+".server.cert"], a[unit+".server.key"] = c.vault.Issue("x", []string{"10.99.0.99"}, time.Now(), time.Now().Add(time.Hour))
		}, "certificate is for x, 10.99.0.99, this unit is " + u.Address()},
		{"expired", expired, nil, "certificate has expired on "},
	}
	for _, w := range wrong {
		c.issue(t, w.from, w.alter)
		says(t, u, "blocked", "reissue the certificate (", w.says)
		assert.NoFileExists(t, u.DBFile(lab.NB), w.name)
		assert.NoFileExists(t, filepath.Join(u.SysconfDir(), "ovn", "key_host"), w.name)
	}
	c.issue(t, c.vault, nil)
	requireActive(t, u)

	before, used := processes(t, u), fileOf(t, u, "cert_host")
	for _, w := range wrong {
		c.issue(t, w.from, w.alter)
		says(t, u, "blocked", "the new certificate can't be used; the old one stays in use (", w.says)
		c.updateStatus(t, u)
		says(t, u, "blocked", "the new certificate can't be used; the old one stays in use (", w.says)
		assert.Equal(t, used, fileOf(t, u, "cert_host"), w.name)
		c.requireWritable(t)
	}
	c.issue(t, c.vault, nil)
	requireActive(t, u)

	c.issue(t, vault.NewWith("short", vault.Options{TTL: 20 * 24 * time.Hour}), nil)
	requireActive(t, u)
	says(t, u, "active", "certificate expires on "+time.Now().UTC().Add(20*24*time.Hour).Format(time.DateOnly))
	c.issue(t, c.vault, nil)
	assert.NotContains(t, u.Workload().Message, "certificate", u.Name())

	// One that ends while it is in use.
	c.issue(t, vault.NewWith("shorter", vault.Options{TTL: 10 * time.Second}), nil)
	requireActive(t, u)
	c.tick(t, "a certificate that has expired", func() bool {
		if u.Workload().Status == "blocked" {
			return true
		}
		pause(t.Context(), time.Second) // it comes by time alone
		return false
	})
	says(t, u, "blocked", "reissue the certificate (certificate verify failed: certificate has expired on ")
	c.issue(t, c.vault, nil)
	requireActive(t, u)
	c.requireWritable(t)

	require.NoError(t, c.Unrelate(t.Context(), id))
	says(t, u, "blocked", "'certificates' missing")
	c.requireWritable(t)
	assert.NotEmpty(t, fileOf(t, u, "cert_host"), "the one in use goes on being used")
	_, err = c.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
	requireActive(t, u)
	assert.Equal(t, before, processes(t, u), "no server was restarted")
}

// As an operator may give vault them: action upload-signed-csr takes a bundle.
func TestRootThatHasExpiredBesideTheValidOneIsNothingToWaitFor(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	u := units[0]
	used, root := fileOf(t, u, "cert_host"), vault.NewWith("old-root", vault.Options{CATTL: -time.Hour})
	c.vault.Reissue()
	c.issue(t, c.vault, func(_ string, a map[string]string) { a["ca"] = root.PEM() + "\n" + c.vault.PEM() })
	requireActive(t, u)
	assert.NotEqual(t, used, fileOf(t, u, "cert_host"), "nothing is wrong with what was issued")
	from := logSize(t, u)
	require.NoError(t, c.RunHook(t.Context(), u, "config-changed"))
	assert.NotContains(t, logFrom(t, u, from), "trust the CA", "the next hook has nothing to write")
	requireActive(t, u)
}

// Nothing is wrong with what was issued: no operator is to have it issued again.
func TestCertificateThatIsSpoiledOnTheDiskIsWrittenAnewByTheNextHook(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	u := units[0]
	require.NoError(t, c.UpdateStatus(t.Context()))
	used := fileOf(t, u, "cert_host")
	for name, spoil := range map[string]func(path string) error{
		"half of it": func(path string) error { return os.WriteFile(path, []byte(used[:len(used)/2]), 0o600) },
		"gone":       os.Remove,
	} {
		require.NoError(t, spoil(filepath.Join(u.SysconfDir(), "ovn", "cert_host")))
		require.NoError(t, c.UpdateStatus(t.Context()))
		assert.Equal(t, used, fileOf(t, u, "cert_host"), name)
		says(t, u, "active")
	}
}
