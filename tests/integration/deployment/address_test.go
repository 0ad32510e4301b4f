package deployment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	added := c.AddEmpty()
	var mu sync.Mutex
	var when []string
	added.OnCall(func(call string) {
		if !strings.HasPrefix(call, "relation-set") || !strings.Contains(call, fmt.Sprintf("ovsdb:%d", c.Chassis)) && !strings.Contains(call, fmt.Sprintf("ovsdb-cms:%d", c.CMS)) {
			return
		}
		states := "published:"
		for db, name := range map[lab.DB]string{lab.NB: "OVN_Northbound", lab.SB: "OVN_Southbound"} {
			out, _ := c.Exec(t.Context(), "ovs-appctl", "--timeout=3", "-t", added.Ctl(db), "cluster/status", name)
			if strings.Contains(out, "Status: cluster member\n") && !strings.Contains(out, "Leader: unknown") {
				states += " member"
			}
		}
		mu.Lock()
		defer mu.Unlock()
		when = append(when, states)
	})
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("two units that work", c.AllActive)
	added.OnCall(nil)
	require.NotEmpty(t, when)
	assert.Equal(t, []string{"published: member member"}, slices.Compact(when))
	assert.Equal(t, `"`+added.Address()+`"`, c.RelationData(c.Chassis).Units[added.Name()]["bound-address"])

	const virtual, fresh = "10.99.0.5", "10.99.0.77"
	u := units[0]
	old := u.Address()
	published := func(c *labtest.Model, of *lab.Unit, address string) {
		c.T.Helper()
		for what, data := range map[string]map[string]string{
			"peers": of.Data(), "chassis": c.RelationData(c.Chassis).Units[of.Name()], "CMS": c.RelationData(c.CMS).Units[of.Name()],
		} {
			assert.Equal(c.T, `"`+address+`"`, data["bound-address"], what)
		}
	}
	c.Run("virtual_address_comes_and_goes", func(c *labtest.Model) {
		before, said := services(c, u), u.Workload()
		for _, addresses := range [][]string{{virtual + "/32", old}, {fresh, old}, {old}} {
			require.NoError(c.T, c.SetAddress(c.T.Context(), u, addresses...))
			c.RunUpdateStatus(u)
			published(c, u, old)
			c.Says(u, said.Status)
			c.FindsNone(u, finding.AddressChanged)
			assert.Equal(c.T, before, services(c, u), "%s: servers were restarted", addresses)
		}
		require.NoError(c.T, c.LoseAddress(c.T.Context(), u, virtual+"/32"))
		require.NoError(c.T, c.LoseAddress(c.T.Context(), u, fresh))
	})
	// Clients and peers get another address, and the certificate is for that address. The server is not restarted.
	c.Run("machine_has_lost_its_address", func(c *labtest.Model) {
		before := c.PIDs(u)
		require.NoError(c.T, c.LoseAddress(c.T.Context(), u, old))
		require.NoError(c.T, c.SetAddress(c.T.Context(), u, fresh))
		c.Tick("the new address is published", func() bool {
			return c.RelationData(c.CMS).Units[u.Name()]["bound-address"] == `"`+fresh+`"`
		})
		published(c, u, fresh)
		assert.Contains(c.T, c.RelationData(c.Certificates).Units[u.Name()]["sans"], fresh)
		assert.Equal(c.T, before, c.PIDs(u))
	})
}

// services returns the processes of a unit's servers and of its ovn-northd.
func services(c *labtest.Model, u *lab.Unit) map[string]string {
	c.T.Helper()
	all := map[string]string{}
	for _, file := range []string{"ovnnb_db.pid", "ovnsb_db.pid", "ovn-northd.pid"} {
		pid, err := os.ReadFile(filepath.Join(u.RunDir(), file))
		require.NoError(c.T, err)
		all[file] = strings.TrimSpace(string(pid))
	}
	return all
}
