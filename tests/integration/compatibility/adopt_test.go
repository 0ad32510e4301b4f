package compatibility

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// left is the state that a refresh must not change.
type left struct {
	processes, settings, nb, sb map[string]string
	files, addresses, requests  map[string]string
}

func leftBy(m *labtest.Model, units []*lab.Unit) left {
	m.T.Helper()
	l := left{
		processes: m.Processes(units...), settings: m.LeaderSettings(), nb: m.Connections(lab.NB), sb: m.Connections(lab.SB),
		files: map[string]string{}, addresses: map[string]string{}, requests: map[string]string{},
	}
	for _, u := range units {
		pid, code, err := u.Systemctl(m.T.Context(), "show", "--property=MainPID", "--value", "ovn-northd")
		require.NoError(m.T, err)
		require.Zero(m.T, code)
		l.processes[u.Name()+" northd"] = pid
		for _, name := range []string{"key_host", "cert_host", "ovn-central.crt"} {
			l.files[u.Name()+" "+name] = labtest.Modified(u, name).String() + m.FileOf(u, name)
		}
		l.addresses[u.Name()] = u.Data()["bound-address"]
		for _, id := range []int{m.Chassis, m.CMS} {
			l.addresses[fmt.Sprint(u.Name(), id)] = m.RelationData(id).Units[u.Name()]["bound-address"]
		}
		request := maps.Clone(m.RelationData(m.Certificates).Units[u.Name()])
		delete(request, "certificate_name") // no provider reads it
		l.requests[u.Name()] = fmt.Sprint(request)
		for db, id := range m.ServerIDs(u) {
			l.settings[u.Name()+" "+db] = id
		}
	}
	return l
}

// The Python charm has requested one address of each binding.
func TestAdoption_two_addresses_keep_certificate(t *testing.T) {
	t.Parallel()
	m, units := labtest.PythonCloud(t, 1, lab.Options{IPv6: true})
	require.NotEmpty(t, units[0].Address6())
	before := leftBy(m, units)
	m.RefreshCharm()
	m.RequireActive(units...)
	m.FindsNone(units[0], finding.CertificateUnusable, finding.CertificateNewUnusable, finding.CertificateChanges)
	assert.Equal(t, before, leftBy(m, units))
	for name, mode := range map[string]os.FileMode{"key_host": 0o600, "cert_host": 0o644, "ovn-central.crt": 0o644} {
		info, err := os.Stat(filepath.Join(units[0].SysconfDir(), "ovn", name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), "%s: only root reads the key, and Nagios the certificate", name)
	}
}

// A killed upgrade of packages is completed, and the running services continue: the machine is not mistaken for an
// empty one, on which the services would be masked for good.
func TestAdoption_finishes_killed_package_upgrade(t *testing.T) {
	t.Parallel()
	m, units := labtest.PythonCloud(t, 1, lab.Options{})
	u, before, w := units[0], m.Processes(units...), m.StartWriter(t.Context(), 0)
	require.NoError(t, u.InterruptDpkg())
	m.RefreshCharm()
	m.Tick("a unit that works", m.AllActive)
	m.RequireActive(u)
	assert.Equal(t, before, m.Processes(u), "nothing was restarted")
	out, _ := u.Exec(t.Context(), "systemctl", "is-enabled", "ovn-central", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd")
	assert.NotContains(t, out, "masked")
	assert.Equal(t, "nothing is held back\n", m.Act(u, "show-deferred-events", "format=text")["output"])
	m.Verify(w)
}

// heldBackAsPython sets up a machine like charm-helpers with enable-auto-restarts=false
// (contrib/openstack/policy_rcd.py, deferred_events.py, files/policy_rc_d_script.py): the policy as PyYAML writes it,
// its program behind the alternative, and the refused restarts of a package, of the charm itself, and of another
// charm on the machine.
func heldBackAsPython(t *testing.T, u *lab.Unit) (others string) {
	t.Helper()
	root := filepath.Dir(u.DBDir())
	event := func(name, service, reason string) string {
		return fmt.Sprintf("action: restart\npolicy_requestor_name: %s\npolicy_requestor_type: charm\nreason: '%s'\nservice: %s\ntimestamp: 1764000000\n", name, reason, service)
	}
	others = filepath.Join(root, "policy-rc.d", "charm-neutron-openvswitch-6c2a.deferred")
	for path, text := range map[string]string{
		filepath.Join(u.SysconfDir(), "policy-rc.d", "charm-ovn-central.policy"): "# Managed by juju\nblocked_actions:\n  ovn-central: [restart, stop, try-restart]\n  ovn-northd: [restart, stop, try-restart]\n" +
			"policy_requestor_name: ovn-central\npolicy_requestor_type: charm\n",
		filepath.Join(root, "charm", "ovn-central", "policy-rc.d"):            "#!/usr/bin/env python3\n",
		filepath.Join(root, "policy-rc.d", "charm-ovn-central-1f0e.deferred"): event("ovn-central", "ovn-central.service", "Package update"),
		filepath.Join(root, "policy-rc.d", "charm-ovn-central-2b7d.deferred"): event("ovn-central", "ovn-northd", "File(s) changed: /etc/default/ovn-central"),
		others: event("neutron-openvswitch", "openvswitch-switch", "Package update"),
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	_, err := u.Exec(t.Context(), "update-alternatives", "--install", "/usr/sbin/policy-rc.d", "policy-rc.d",
		filepath.Join(root, "charm", "ovn-central", "policy-rc.d"), "50")
	require.NoError(t, err)
	return others
}

func TestAdoption_takes_over_deferred_restarts(t *testing.T) {
	t.Parallel()
	m, units := labtest.PythonCloud(t, 1, lab.Options{})
	u := units[0]
	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "false"}))
	others := heldBackAsPython(t, u)
	before := m.Processes(u)

	m.RefreshCharm()
	assert.Equal(t, before, m.Processes(u), "nothing was restarted")
	m.Says(u, "active", "Services queued for restart: ovn-central, ovn-northd, ovn-ovsdb-server-nb, ovn-ovsdb-server-sb)")
	assert.Contains(t, m.Act(u, "show-deferred-events")["output"], "Package update")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(others), "charm-*.deferred"))
	require.NoError(t, err)
	assert.Equal(t, []string{others}, left, "what was refused is taken over, and the other charm's left to it")

	// Later requests of packages are refused as before, with the same answer.
	asked := filepath.Join(filepath.Dir(u.DBDir()), "usr/sbin/policy-rc.d")
	_, err = u.Exec(t.Context(), asked, "ovn-ovsdb-server-sb.service", "restart")
	require.ErrorContains(t, err, "101")
	m.Act(u, "restart-services", "deferred-only=true")
	requireRestarted(m, u, before)
	m.RunUpdateStatus(u)
	m.Says(u, "active", "Unit is ready")
	assert.NotContains(t, u.Workload().Message, "queued")
	require.NoError(t, m.Configure(t.Context(), map[string]string{"enable-auto-restarts": "true"}))
	assert.NoFileExists(t, filepath.Join(u.SysconfDir(), "policy-rc.d", "charm-ovn-central.policy"))
}
