package deployment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// guarded returns the rules of a unit with these peers and other clients, in no order.
func guarded(peers []*lab.Unit, clients ...string) []string {
	const comment = " # charm-ovn-central"
	var rules []string
	for _, peer := range peers {
		rules = append(rules, "6641,6643,6644,16402,16642/tcp ALLOW IN "+peer.Address()+comment)
	}
	for _, client := range clients {
		rules = append(rules, "6641,16642/tcp ALLOW IN "+client+comment)
	}
	for _, family := range []string{"", " (v6)"} {
		rules = append(rules, "6642/tcp"+family+" ALLOW IN Anywhere"+family+comment)
		for _, port := range []string{"6641", "6643", "6644", "16402", "16642"} {
			rules = append(rules, port+"/tcp"+family+" REJECT IN Anywhere"+family+comment)
		}
	}
	return rules
}

func TestFirewall_allows_members_and_clients(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{JujuVersion: lab.Juju3})
	// A client that publishes no address connects from the address that Juju knows for it.
	known := c.RelationData(c.CMS).RemoteUnits["neutron-api-plugin-ovn/0"]["ingress-address"]
	for _, u := range units {
		assert.ElementsMatch(t, guarded(labtest.Without(c.Units(), u), known), c.FirewallRules(u), u.Name())
	}
	require.NoError(t, c.RemoteSet(t.Context(), c.CMS, "neutron-api-plugin-ovn/0", map[string]string{"cms-client-bound-address": `"192.0.2.7"`}))
	for _, u := range units {
		assert.ElementsMatch(t, guarded(labtest.Without(c.Units(), u), "192.0.2.7"), c.FirewallRules(u), u.Name())
	}
	require.NoError(t, c.Unrelate(t.Context(), c.CMS))
	for _, u := range units {
		assert.ElementsMatch(t, guarded(labtest.Without(c.Units(), u)), c.FirewallRules(u), u.Name())
	}

	// The other units have learned that a unit departs, but it is still a member.
	leaves := units[2]
	require.NoError(t, c.BeginRemoval(t.Context(), leaves))
	require.Contains(t, strings.Join(units[0].Hooks(), "\n"), "ovsdb-peer-relation-departed "+leaves.Name(), "the premise")
	require.Len(t, c.Raft(units[0], lab.NB).Servers, 3, "the premise")
	c.RunUpdateStatus(units[:2]...)
	for _, u := range units[:2] {
		assert.ElementsMatch(t, guarded(labtest.Without(c.Units(), u)), c.FirewallRules(u), "%s lets %s in", u.Name(),
			leaves.Name())
	}
	require.NoError(t, c.RemoveUnit(t.Context(), leaves, lab.RemoveOptions{}))
	c.Tick("it is shut out", func() bool {
		return !strings.Contains(strings.Join(append(c.FirewallRules(units[0]), c.FirewallRules(units[1])...), "\n"), leaves.Address()+" ")
	})
	for _, u := range units[:2] {
		assert.ElementsMatch(t, guarded(labtest.Without(c.Units(), u)), c.FirewallRules(u), u.Name())
	}
	c.RequireVacated(leaves)
}

// withoutUfw hides both the lab's and the system's ufw from a unit's hooks.
func withoutUfw(t *testing.T, u *lab.Unit) {
	t.Helper()
	others := t.TempDir()
	for _, dir := range []string{"/usr/sbin", "/usr/bin"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			err := os.Symlink(filepath.Join(dir, entry.Name()), filepath.Join(others, entry.Name()))
			require.True(t, err == nil || errors.Is(err, fs.ErrExist), "%v", err)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(others, "ufw")))
	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(u.CharmDir()), "bin", "ufw")))
	dispatch := filepath.Join(u.CharmDir(), "dispatch")
	require.NoError(t, os.Rename(dispatch, dispatch+"-with-ufw"))
	script := "#!/bin/sh\nlab=$(echo \"$PATH\" | tr : '\\n' | grep ^" + filepath.Dir(filepath.Dir(u.CharmDir())) + "/ | paste -sd:)\n" +
		"PATH=$lab:" + others + " exec ./dispatch-with-ufw\n"
	require.NoError(t, os.WriteFile(dispatch, []byte(script), 0o755))
}

func TestFirewall_without_ufw_unit_works_and_warns(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{})
	c.RelateVault()
	u := c.AddEmpty()
	withoutUfw(t, u)
	require.NoError(t, c.Settle(t.Context()))
	c.Says(u, "active")
	c.Finds(u, finding.FirewallFailed, "")
	c.RequireWritable()
	require.NoError(t, c.RemoveApplication(t.Context()))
	assert.True(t, u.Removed(), "nor does it hinder the end")
	assert.Len(t, c.InPlace(u), 2, "R2, R9: the last unit keeps the data")
	assert.Empty(t, c.PutAway(u))
}

// If rules, or ufw itself, were removed by hand, the record of the rules that were set does not show it.
func TestFirewall_changed_by_hand_is_restored(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	before := c.FirewallRules(u)
	require.NotEmpty(t, before, "the premise")
	changes := [][]string{{"delete", "reject", "6643/tcp"}, {"disable"}}
	for _, hook := range []string{"config-changed", "update-status"} { // for months, most units only run the latter
		for _, by := range changes {
			_, err := u.Exec(t.Context(), "ufw", by...)
			require.NoError(t, err)
			require.NotEqual(t, before, c.FirewallRules(u), "the premise: ufw %v", by)
			require.NoError(t, c.RunHook(t.Context(), u, hook))
			assert.ElementsMatch(t, before, c.FirewallRules(u), "%s after ufw %v", hook, by)
		}
	}
}
