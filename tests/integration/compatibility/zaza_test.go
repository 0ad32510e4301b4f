package compatibility

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// zaza does with an application what the functional tests of the Python charm do:
// zaza/openstack/charm_tests/ovn/tests.py and test_utils.py of openstack-charmers/zaza-openstack-tests (217e261),
// zaza/model.py of openstack-charmers/zaza (d171f49), and src/tests/tests.yaml of that charm.
type zaza struct{ *labtest.Model }

// awaiting is target_deploy_status in the charm's tests.yaml.
const awaiting = "'ovsdb-peer' incomplete, 'certificates' awaiting server certificate data"

// states is wait_for_application_states: approved statuses and beginnings of messages, to which tests.yaml adds.
func (z zaza) states() {
	z.T.Helper()
	z.Tick("an approved state of each unit", func() bool {
		return !slices.ContainsFunc(z.Units(), func(u *lab.Unit) bool {
			said := u.Workload()
			word := said.Status == "active" || said.Status == "waiting"
			begins := func(prefix string) bool { return strings.HasPrefix(said.Message, prefix) }
			return !word || !slices.ContainsFunc([]string{"ready", "Ready", "Unit is ready", awaiting}, begins)
		})
	})
}

// message is block_until_unit_wl_message_match for all units: re.match matches at the beginning only.
func (z zaza) message(pattern string) {
	z.T.Helper()
	match := regexp.MustCompile("^(?:" + pattern + ")")
	z.Tick(pattern, func() bool {
		return !slices.ContainsFunc(z.Units(), func(u *lab.Unit) bool { return !match.MatchString(u.Workload().Message) })
	})
}

// clusterStatus is _cluster_status_action: the leader's results without parameters, read as YAML.
func (z zaza) clusterStatus(u *lab.Unit) (sb, nb map[string]any) {
	z.T.Helper()
	results := z.Act(u, "cluster-status")
	require.Contains(z.T, results, "ovnnb")
	require.Contains(z.T, results, "ovnsb")
	require.NoError(z.T, yaml.Unmarshal([]byte(results["ovnsb"]), &sb), results["ovnsb"])
	require.NoError(z.T, yaml.Unmarshal([]byte(results["ovnnb"]), &nb), results["ovnnb"])
	assert.Equal(z.T, "yaml (option cluster-status-format)", results["format"])
	return sb, nb
}

func unitMap(t *testing.T, status map[string]any) map[string]any {
	t.Helper()
	units, ok := status["unit_map"].(map[string]any)
	require.True(t, ok, "%v", status)
	return units
}

// removed is _assert_servers_cleanly_removed.
func (z zaza) removed() {
	z.T.Helper()
	sb, nb := z.clusterStatus(z.Leader())
	assert.NotContains(z.T, unitMap(z.T, sb), "UNKNOWN")
	assert.NotContains(z.T, unitMap(z.T, nb), "UNKNOWN")
}

// hosting is _get_unit_hosting_ovn: a unit with, or without, the leader of sb.
func (z zaza) hosting(leader bool) *lab.Unit {
	z.T.Helper()
	sb, _ := z.clusterStatus(z.Leader())
	id := sb["leader"].(string)
	if id == "self" {
		id = sb["server_id"].(string)[:4]
	}
	for _, u := range z.Units() {
		if (unitMap(z.T, sb)[u.Name()] == id) == leader {
			return u
		}
	}
	require.Fail(z.T, "no such unit", "%v", sb)
	return nil
}

// remove is _remove_unit.
func (z zaza) remove(u *lab.Unit) {
	z.T.Helper()
	require.NoError(z.T, z.RemoveUnit(z.T.Context(), u, lab.RemoveOptions{}))
	z.states()
}

// verified is what juju-verify makes of cluster-status on every unit: it wants these keys, one leader, and no member
// without a unit (juju_verify/verifiers/ovn_central.py of canonical/juju-verify, 0c80d50).
func (z zaza) verified() {
	z.T.Helper()
	keys := []string{
		"cluster_id", "server_id", "address", "status", "role", "term", "leader", "vote", "log",
		"entries_not_yet_committed", "entries_not_yet_applied", "servers", "unit_map",
	}
	leaders := map[string]bool{}
	for _, u := range z.Units() {
		sb, nb := z.clusterStatus(u)
		for which, status := range map[string]map[string]any{"sb ": sb, "nb ": nb} {
			for _, key := range keys {
				assert.Contains(z.T, status, key)
			}
			leader := status["leader"].(string)
			if leader == "self" {
				leader = status["server_id"].(string)[:4]
				assert.Zero(z.T, status["entries_not_yet_committed"])
			}
			leaders[which+leader] = true
			assert.NotContains(z.T, unitMap(z.T, status), "UNKNOWN")
		}
	}
	assert.Len(z.T, leaders, 2, "%v", slices.Collect(maps.Keys(leaders)))
}

// findsItsOwn asserts what the Python charm reads after a downgrade: leadership.set.* of ovn_central_handlers.py,
// bound-address of ovsdb_cluster/peers.py of charm-interface-ovsdb, and the paths of ovn_central.py.
func (z zaza) findsItsOwn() {
	z.T.Helper()
	settings := z.LeaderSettings()
	assert.Equal(z.T, "True", settings["ready"])
	for _, u := range z.Units() {
		for _, db := range lab.Databases {
			assert.Equal(z.T, string(z.Raft(u, db).Cluster), settings[string(db)+"_cid"])
			assert.FileExists(z.T, filepath.Join(u.DBDir(), "ovn"+string(db)+"_db.db"))
		}
		// expected_peers_available: of every unit that Juju expects, or it waits for ever.
		assert.Equal(z.T, `"`+u.Address()+`"`, u.Data()["bound-address"])
		for _, file := range []string{"key_host", "cert_host", "ovn-central.crt"} {
			assert.FileExists(z.T, filepath.Join(u.SysconfDir(), "ovn", file))
		}
	}
}

// A deployment with a sealed vault, which is then unsealed; the tests of membership, and juju-verify's questions.
func TestZaza_tests_of_Python_charm(t *testing.T) {
	t.Parallel()
	z := zaza{labtest.Empty(t, lab.Options{})}
	require.NoError(t, z.Configure(t.Context(), map[string]string{"cluster-status-format": "yaml"}))
	_, err := z.Relate(t.Context(), "certificates", "vault", 1)
	require.NoError(t, err)
	z.AddFresh(3)
	z.states()
	for _, u := range z.Units() {
		z.Says(u, "waiting", awaiting)
	}
	z.VaultAnswers()
	require.NoError(t, z.Settle(t.Context()))
	z.message("Unit is ready.*")
	z.findsItsOwn()

	// test_cluster_status
	sb, nb := z.clusterStatus(z.Leader())
	for _, u := range z.Units() {
		for db, status := range map[lab.DB]map[string]any{lab.SB: sb, lab.NB: nb} {
			text := labtest.Output(t, u, "ovn-appctl", "-t", u.Ctl(db), "cluster/status",
				map[lab.DB]string{lab.SB: "OVN_Southbound", lab.NB: "OVN_Northbound"}[db])
			assert.Equal(t, strings.SplitN(text, "\n", 2)[0], unitMap(t, status)[u.Name()])
		}
	}
	z.verified()

	// Operators look for these in juju status (doc/source/admin/networking/ovn/queries.rst
	// of openstack/charm-guide, 2a2fe65): one unit each.
	for _, text := range []string{"ovnnb_db", "ovnsb_db", "northd: active"} {
		with := slices.DeleteFunc(slices.Clone(z.Units()), func(u *lab.Unit) bool { return !labtest.Shows(u, text) })
		assert.Len(t, with, 1, "%s\n%s", text, z.Statuses())
	}

	// test_cluster_kick
	gone := z.AddFresh(1)[0]
	z.states()
	sb, nb = z.clusterStatus(z.Leader())
	sbID, nbID := unitMap(t, sb)[gone.Name()].(string), unitMap(t, nb)[gone.Name()].(string)
	labtest.Output(t, gone, "sh", "-c", "rm -rf "+gone.RunDir()+"/*")
	z.remove(gone)
	sb, nb = z.clusterStatus(z.Leader())
	assert.Contains(t, unitMap(t, sb)["UNKNOWN"], sbID)
	assert.Contains(t, unitMap(t, nb)["UNKNOWN"], nbID)
	z.Act(z.Leader(), "cluster-kick", "sb-server-id="+quoted(sbID), "nb-server-id="+quoted(nbID), "i-really-mean-it=true")
	z.removed()

	// test_cluster_downscale
	z.AddFresh(2)
	z.states()
	for _, leader := range []bool{false, true} {
		z.remove(z.hosting(leader))
		z.removed()
	}
	z.verified()
}

// The charm guide's way for releases before 23.03 (doc/source/admin/ops-scale-back-ovn-central.rst of
// openstack/charm-guide, 2a2fe65): an operator makes the servers leave by hand, then removes the unit; at once, or
// after a hook that makes it join again.
func TestRemoval_servers_left_by_hand(t *testing.T) {
	t.Parallel()
	m, units := labtest.Fresh(t, 3, lab.Options{})
	z := zaza{m}
	require.NoError(t, z.Configure(t.Context(), map[string]string{"cluster-status-format": "yaml"}))
	for i, u := range []*lab.Unit{units[2], units[1]} {
		for _, db := range []lab.DB{lab.SB, lab.NB} {
			labtest.Output(t, u, "ovn-appctl", "-t", u.Ctl(db), "cluster/leave", db.Schema())
		}
		if i > 0 {
			m.RunUpdateStatus(u)
		}
		z.remove(u)
		require.True(t, u.Removed())
		m.RequireVacated(u)
		for _, db := range lab.Databases {
			text := labtest.Output(t, units[0], "ovn-appctl", "-t", units[0].Ctl(db), "cluster/status", db.Schema())
			assert.Equal(t, 2-i, strings.Count(text, " at ssl:"), text)
		}
		z.removed()
	}
}

func quoted(id string) string { return `"` + id + `"` }
