package deployment

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// pythonCharm is a charm in place of the one before this one: it has that one's endpoints
// and options, and no others, and its hooks do what a test writes for them.
func pythonCharm(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("..", "..", "quick", "charm", "testdata", "python-charm.yaml"))
	require.NoError(t, err)
	var facts struct{ Endpoints, Options, Actions map[string]any }
	require.NoError(t, yaml.Unmarshal(text, &facts))
	facts.Endpoints["name"], facts.Endpoints["summary"], facts.Endpoints["description"] = "ovn-central", "facts", "facts"
	for name, content := range map[string]map[string]any{
		"metadata.yaml": facts.Endpoints, "config.yaml": {"options": facts.Options}, "actions.yaml": facts.Actions,
	} {
		text, err := yaml.Marshal(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	script := "#!/bin/sh\nif [ -e ./on-update-status ] && [ \"$JUJU_DISPATCH_PATH\" = hooks/update-status ]; then . ./on-update-status; fi\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dispatch"), []byte(script), 0o755))
	return dir
}

// pythonData is what that charm puts on the relations, in its form on the wire:
// values of its own endpoints are JSON, certificate_name is random, and the
// request is for the machine's name and its address.
func pythonData(c *cloud, u *lab.Unit) string {
	publish := fmt.Sprintf(`bound-address='"%s"'`, u.Address())
	request := fmt.Sprintf(`unit_name=%s common_name=machine-%d sans='["%s"]' certificate_name=7d7a-%d`,
		strings.ReplaceAll(u.Name(), "/", "_"), u.Number(), u.Address(), u.Number())
	return fmt.Sprintf("relation-set -r ovsdb-peer:1 %s\nrelation-set -r ovsdb:%d %s\nrelation-set -r ovsdb-cms:%d %s\nrelation-set -r certificates:%d %s\n"+
		"status-set active 'Unit is ready'\n", publish, c.chassis, publish, c.cms, publish, c.certificates, request)
}

// pythonCloud is what the Python charm leaves of n units: servers that run,
// certificates, listeners, firewall, leader settings, data on the relations.
func pythonCloud(t *testing.T, n int, change ...func(*lab.Options)) (*cloud, []*lab.Unit) {
	t.Helper()
	options := lab.Options{Charm: pythonCharm(t), Northd: true, ElectionTimer: 4 * time.Second, Log: t.Output()}
	for _, f := range change {
		f(&options)
	}
	l, err := lab.New(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	c := &cloud{Lab: l, vault: l.CA()}
	require.NoError(t, c.Configure(t.Context(), map[string]string{"source": "distro"}))
	c.certificates, err = c.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
	c.relateClients(t)
	units, err := c.AddUnits(t.Context(), n)
	require.NoError(t, err)
	answer := map[string]string{"ca": c.vault.PEM()}
	for _, u := range units {
		prefix := strings.ReplaceAll(u.Name(), "/", "_") + ".server."
		answer[prefix+"cert"], answer[prefix+"key"] = fileOf(t, u, "cert_host"), fileOf(t, u, "key_host")
		require.NoError(t, os.WriteFile(filepath.Join(u.CharmDir(), "on-update-status"), []byte(pythonData(c, u)), 0o644))
		for _, name := range []string{"key_host", "cert_host"} { // write_cert of charms.openstack
			require.NoError(t, os.Chmod(filepath.Join(u.SysconfDir(), "ovn", name), 0o640))
		}
		guardAsPython(t, u, units)
	}
	require.NoError(t, c.RemoteSet(t.Context(), c.certificates, "vault/0", answer))
	for _, u := range units {
		require.NoError(t, c.RunHook(t.Context(), u, "update-status"))
	}
	require.NoError(t, c.Settle(t.Context()))
	return c, units
}

// guardAsPython sets the firewall as that charm does: a rule for each port and peer.
func guardAsPython(t *testing.T, u *lab.Unit, units []*lab.Unit) {
	t.Helper()
	rules := []string{"default allow incoming", "--force enable"}
	for _, port := range []int{6641, 6643, 6644, 16642} {
		rules = append(rules, fmt.Sprintf("reject to any port %d proto tcp comment charm-ovn-central", port))
		for _, peer := range units {
			if peer != u {
				rules = append(rules, fmt.Sprintf("prepend allow from %s to any port %d proto tcp comment charm-ovn-central", peer.Address(), port))
			}
		}
	}
	for _, rule := range rules {
		_, err := u.Exec(t.Context(), "ufw", strings.Fields(rule)...)
		require.NoError(t, err)
	}
}

// firewallRules are those of a unit's ufw, without their numbers.
func firewallRules(t *testing.T, u *lab.Unit) (rules []string) {
	t.Helper()
	out, err := u.Exec(t.Context(), "ufw", "status", "numbered")
	require.NoError(t, err)
	for line := range strings.Lines(out) {
		if _, rule, found := strings.Cut(line, "] "); found {
			rules = append(rules, strings.Join(strings.Fields(rule), " "))
		}
	}
	return rules
}

// left is all that a refresh may not change.
type left struct {
	processes, settings, nb, sb map[string]string
	files, addresses, requests  map[string]string
}

func (c *cloud) left(t *testing.T, units []*lab.Unit) left {
	t.Helper()
	l := left{
		processes: processes(t, units...), settings: c.LeaderSettings(), nb: c.connections(t, lab.NB), sb: c.connections(t, lab.SB),
		files: map[string]string{}, addresses: map[string]string{}, requests: map[string]string{},
	}
	for _, u := range units {
		pid, code, err := u.Systemctl(t.Context(), "show", "--property=MainPID", "--value", "ovn-northd")
		require.NoError(t, err)
		require.Zero(t, code)
		l.processes[u.Name()+" northd"] = pid
		for _, name := range []string{"key_host", "cert_host", "ovn-central.crt"} {
			l.files[u.Name()+" "+name] = modified(u, name).String() + fileOf(t, u, name)
		}
		l.addresses[u.Name()] = u.Data()["bound-address"]
		for _, id := range []int{c.chassis, c.cms} {
			l.addresses[fmt.Sprint(u.Name(), id)] = c.RelationData(id).Units[u.Name()]["bound-address"]
		}
		request := maps.Clone(c.RelationData(c.certificates).Units[u.Name()])
		delete(request, "certificate_name") // no provider reads it
		l.requests[u.Name()] = fmt.Sprint(request)
		for db, id := range serverIDs(t, u) {
			l.settings[u.Name()+" "+db] = id
		}
	}
	return l
}

func serverIDs(t *testing.T, u *lab.Unit) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, db := range lab.Databases {
		id, err := u.ServerID(t.Context(), db)
		require.NoError(t, err)
		ids[string(db)] = id
	}
	return ids
}

// calledPrograms notes what the hooks of units call from now on.
func calledPrograms(units []*lab.Unit) (called func(word string) []string) {
	var mu sync.Mutex
	var all []string
	for _, u := range units {
		u.OnCall(func(call string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, u.Name()+" "+call)
		})
	}
	return func(word string) (found []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, call := range all {
			if strings.Contains(call, word) && !strings.HasSuffix(call, agentService) { // which is new
				found = append(found, call)
			}
		}
		return found
	}
}

func TestRefreshTakesOverWhatThePythonCharmLeftAndRestartsNothing(t *testing.T) {
	t.Parallel()
	c, units := pythonCloud(t, 3)
	before, rules := c.left(t, units), map[string][]string{}
	for _, u := range units {
		rules[u.Name()] = firewallRules(t, u)
		require.Equal(t, `"`+u.Address()+`"`, before.addresses[u.Name()], "the premise")
	}
	called := calledPrograms(units)
	w := c.StartWriter(t.Context(), 0)

	// Settings that are those of another cluster change nothing either.
	wrong := "11111111-2222-4333-8444-555555555555"
	right := c.LeaderSettings()["nb_cid"]
	require.NoError(t, c.SetLeaderSettings(t.Context(), map[string]string{"nb_cid": wrong}))
	require.NoError(t, c.Refresh(t.Context(), charmDir))
	for _, u := range units {
		says(t, u, "blocked", "nb: ", brief(wrong), brief(right))
		assert.NotContains(t, u.Workload().Message, "sb: ")
	}
	assert.Empty(t, called("systemctl restart"))
	require.NoError(t, c.SetLeaderSettings(t.Context(), map[string]string{"nb_cid": right}))
	c.updateStatus(t, units...)
	requireActive(t, units...)
	lossless(t, w)

	after := c.left(t, units)
	assert.Equal(t, before, after)
	for _, u := range units {
		for name, mode := range map[string]os.FileMode{"key_host": 0o600, "cert_host": 0o644, "ovn-central.crt": 0o644} {
			info, err := os.Stat(filepath.Join(u.SysconfDir(), "ovn", name))
			require.NoError(t, err)
			assert.Equal(t, mode, info.Mode(), "%s: Nagios reads the certificate, and nobody else the key", name)
		}
	}
	assert.Empty(t, called("apt-get"))
	assert.Empty(t, called("add-apt-repository"))
	assert.Empty(t, called("create-cluster"))
	assert.Empty(t, called("join-cluster"))
	for _, program := range []string{"systemctl stop", "systemctl restart", "systemctl start", "systemctl mask"} {
		assert.Empty(t, called(program))
	}
	for _, u := range units {
		assert.Empty(t, u.Repositories())
		assert.Subset(t, firewallRules(t, u), rules[u.Name()], "rules that stand, stay")
		defaults, err := os.ReadFile(filepath.Join(u.SysconfDir(), "default", "ovn-central"))
		require.NoError(t, err)
		assert.NotContains(t, string(defaults), "maintained by Juju. Local changes may be overwritten", "the file is ours")
		assert.Equal(t, "nothing is held back\n", c.act(t, u, "show-deferred-events", "format=text")["output"])
		assert.NotContains(t, u.Hooks()[len(u.Hooks())-3:], "install")
	}

	// It grows and shrinks like any other.
	c.OnRemote("certificates", func(unit string, bag map[string]string) map[string]string {
		if unit != "ovn-central/3" {
			return nil // the others have what they asked for
		}
		answer, err := c.vault.Answer(unit, bag)
		assert.NoError(t, err)
		return answer
	})
	added := c.addFresh(t, 1)[0]
	c.tick(t, "four units that work", c.allActive)
	c.requireOneCluster(t, append(units, added)...)
	for _, u := range units {
		assert.Contains(t, strings.Join(firewallRules(t, u), "\n"), added.Address())
	}
	require.NoError(t, c.RemoveUnit(t.Context(), units[0], lab.RemoveOptions{}))
	c.tick(t, "three units that work", c.allActive)
	c.requireOneCluster(t, units[1], units[2], added)
	for _, u := range []*lab.Unit{units[1], units[2], added} {
		assert.NotContains(t, strings.Join(firewallRules(t, u), "\n"), units[0].Address()+" ", u.Name())
	}
}

// The Python charm has asked for one address of each binding.
func TestRefreshOfAMachineWithTwoAddressesBringsNoOtherCertificate(t *testing.T) {
	t.Parallel()
	c, units := pythonCloud(t, 1, func(o *lab.Options) { o.IPv6 = true })
	require.NotEmpty(t, units[0].Address6())
	before := c.left(t, units)
	require.NoError(t, c.Refresh(t.Context(), charmDir))
	requireActive(t, units...)
	assert.NotContains(t, units[0].Workload().Message, "certificate")
	assert.Equal(t, before, c.left(t, units))
}

// An upgrade of packages that was killed is finished, and what runs goes on running: the machine is
// not taken for an empty one, whose services would be masked for good.
func TestRefreshFinishesAnUpgradeThatWasKilledAndAdopts(t *testing.T) {
	t.Parallel()
	c, units := pythonCloud(t, 3)
	before, w := processes(t, units...), c.StartWriter(t.Context(), 0)
	require.NoError(t, units[1].InterruptDpkg())
	require.NoError(t, c.Refresh(t.Context(), charmDir))
	c.tick(t, "three units that work", c.allActive)
	requireActive(t, units...)
	assert.Equal(t, before, processes(t, units...), "nothing was restarted")
	for _, u := range units {
		out, _ := u.Exec(t.Context(), "systemctl", "is-enabled", "ovn-central", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd")
		assert.NotContains(t, out, "masked", u.Name())
	}
	assert.Equal(t, "nothing is held back\n", c.act(t, units[1], "show-deferred-events", "format=text")["output"])
	c.requireOneCluster(t, units...)
	lossless(t, w)
}

// heldBackAsPython leaves on a machine what charm-helpers does for enable-auto-restarts=false
// (contrib/openstack/policy_rcd.py, deferred_events.py, files/policy_rc_d_script.py): the
// policy as PyYAML writes it, its program behind the alternative, and what was refused: of a
// package, of the charm itself, and of another charm on the machine.
func heldBackAsPython(t *testing.T, u *lab.Unit) (others string) {
	t.Helper()
	root := filepath.Dir(u.DBDir())
	event := func(name, service, reason string) string {
		return fmt.Sprintf("action: restart\npolicy_requestor_name: %s\npolicy_requestor_type: charm\nreason: '%s'\nservice: %s\ntimestamp: 1764000000\n", name, reason, service)
	}
	others = filepath.Join(root, "policy-rc.d", "charm-neutron-openvswitch-6c2a.deferred")
	for path, text := range map[string]string{
		policyOf(u): "# Managed by juju\nblocked_actions:\n  ovn-central: [restart, stop, try-restart]\n  ovn-northd: [restart, stop, try-restart]\n" +
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

func TestRefreshTakesOverTheRestartsThatThePythonCharmHeldBack(t *testing.T) {
	t.Parallel()
	c, units := pythonCloud(t, 1)
	u := units[0]
	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "false"}))
	others := heldBackAsPython(t, u)
	before := processes(t, u)

	require.NoError(t, c.Refresh(t.Context(), charmDir))
	assert.Equal(t, before, processes(t, u), "nothing was restarted")
	says(t, u, "active", "Services queued for restart: ovn-central, ovn-northd, ovn-ovsdb-server-nb, ovn-ovsdb-server-sb)")
	assert.Contains(t, c.act(t, u, "show-deferred-events")["output"], "Package update")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(others), "charm-*.deferred"))
	require.NoError(t, err)
	assert.Equal(t, []string{others}, left, "what was refused is taken over, and the other charm's left to it")

	// What packages ask from now on refuses the same, and is told the same.
	asked := filepath.Join(filepath.Dir(u.DBDir()), "usr/sbin/policy-rc.d")
	_, err = u.Exec(t.Context(), asked, "ovn-ovsdb-server-sb.service", "restart")
	require.ErrorContains(t, err, "101")
	c.act(t, u, "restart-services", "deferred-only=true")
	for name, process := range processes(t, u) {
		assert.NotEqual(t, before[name], process)
	}
	c.updateStatus(t, u)
	zaza{c}.clear(t)
	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "true"}))
	assert.NoFileExists(t, policyOf(u))
}
