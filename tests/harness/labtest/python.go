package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// PythonCloud starts a lab with n units in the state in which the Python charm leaves them: servers, certificates,
// firewall and settings.
func PythonCloud(t *testing.T, n int, o lab.Options) (*Model, []*lab.Unit) {
	t.Helper()
	o.Charm, o.Northd, o.ElectionTimer = pythonCharm(t), true, 4*time.Second
	m := Empty(t, o)
	m.RelateSealedVault()
	m.RelateClients()
	units, err := m.AddUnits(t.Context(), n)
	require.NoError(t, err)
	answer := map[string]string{"ca": m.CA().PEM()}
	for _, u := range units {
		prefix := strings.ReplaceAll(u.Name(), "/", "_") + ".server."
		answer[prefix+"cert"], answer[prefix+"key"] = m.FileOf(u, "cert_host"), m.FileOf(u, "key_host")
		require.NoError(t, os.WriteFile(filepath.Join(u.CharmDir(), "on-update-status"), []byte(m.pythonData(u)), 0o600))
		for _, name := range []string{"key_host", "cert_host"} { // write_cert of charms.openstack
			require.NoError(t, os.Chmod(filepath.Join(u.SysconfDir(), "ovn", name), 0o640))
		}
		m.guardAsPython(u, units)
	}
	require.NoError(t, m.RemoteSet(t.Context(), m.Certificates, "vault/0", answer))
	m.RunUpdateStatus(units...)
	return m, units
}

// pythonCharm has the Python charm's endpoints, options and actions. A test provides its hooks.
func pythonCharm(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := lab.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "tests", "quick", "charm", "testdata", "python-charm.yaml"))
	require.NoError(t, err)
	var facts struct{ Endpoints, Options, Actions map[string]any }
	require.NoError(t, yaml.Unmarshal(text, &facts))
	facts.Endpoints["name"], facts.Endpoints["summary"], facts.Endpoints["description"] = "ovn-central", "facts", "facts"
	for name, content := range map[string]map[string]any{
		"metadata.yaml": facts.Endpoints, "config.yaml": {"options": facts.Options}, "actions.yaml": facts.Actions,
	} {
		text, err := yaml.Marshal(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	script := "#!/bin/sh\n[ \"$JUJU_DISPATCH_PATH\" != hooks/update-status ] || [ ! -e ./on-update-status ] || . ./on-update-status\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dispatch"), []byte(script), 0o755))
	return dir
}

// pythonData returns what that charm puts on the relations, in its form on the wire: values of its own endpoints are
// JSON, certificate_name is random, and the request is for the machine's name and its address.
func (m *Model) pythonData(u *lab.Unit) string {
	publish := fmt.Sprintf(`bound-address='"%s"'`, u.Address())
	request := fmt.Sprintf(`unit_name=%s common_name=machine-%d sans='["%s"]' certificate_name=7d7a-%d`,
		strings.ReplaceAll(u.Name(), "/", "_"), u.Number(), u.Address(), u.Number())
	return fmt.Sprintf("relation-set -r ovsdb-peer:1 %s\nrelation-set -r ovsdb:%d %s\nrelation-set -r ovsdb-cms:%d %s\n"+
		"relation-set -r certificates:%d %s\nstatus-set active 'Unit is ready'\n",
		publish, m.Chassis, publish, m.CMS, publish, m.Certificates, request)
}

// guardAsPython sets the firewall as the Python charm does: a rule for each port and peer.
func (m *Model) guardAsPython(u *lab.Unit, units []*lab.Unit) {
	m.T.Helper()
	rules := []string{"default allow incoming", "--force enable"}
	for _, port := range []int{6641, 6643, 6644, 16642} {
		const to = "to any port %d proto tcp comment charm-ovn-central"
		rules = append(rules, fmt.Sprintf("reject "+to, port))
		for _, peer := range units {
			if peer != u {
				rules = append(rules, "prepend allow from "+peer.Address()+" "+fmt.Sprintf(to, port))
			}
		}
	}
	for _, rule := range rules {
		Output(m.T, u, "ufw", strings.Fields(rule)...)
	}
}
