package deployment

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
	"github.com/ovn-central/ovn-central-operator/tests/vault"
)

// client is a machine that knows the relation's data, and has a certificate from
// the same provider.
type client struct {
	c        *cloud
	relation int
	files    lab.Credentials
}

// newClient is a client whose certificate is for a name: a chassis' is its
// system-id, by which the roles know it.
func (c *cloud) newClient(t *testing.T, relation int, name string, from *vault.CA) client {
	t.Helper()
	dir := t.TempDir()
	now := time.Now()
	certificate, key := from.Issue(name, nil, now.Add(-time.Minute), now.Add(24*time.Hour))
	files := lab.Credentials{Key: filepath.Join(dir, "key"), Certificate: filepath.Join(dir, "certificate"), CA: filepath.Join(dir, "ca")}
	for path, text := range map[string]string{files.Key: key, files.Certificate: certificate, files.CA: c.vault.PEM() + "\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return client{c, relation, files}
}

// endpoints are what the client makes of the relation's data for a port.
func (k client) endpoints(t *testing.T, port string) string {
	t.Helper()
	var all []string
	for _, bag := range k.c.RelationData(k.relation).Units {
		var address string
		require.NoError(t, json.Unmarshal([]byte(bag["bound-address"]), &address))
		all = append(all, "ssl:"+address+":"+port)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// run runs one of OVN's clients at a port.
func (k client) run(t *testing.T, program, port string, args ...string) (string, error) {
	t.Helper()
	return k.c.Exec(within(t, patience), program, with(k.files, append([]string{"--db=" + k.endpoints(t, port)}, args...)...)...)
}

func TestClientsConnectWithTheRelationsDataAndMayDoWhatTheirRoleAllows(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	var addresses []string
	for _, u := range units {
		addresses = append(addresses, "ssl:"+u.Address()+":6641")
	}
	cms := c.newClient(t, c.cms, "neutron", c.vault)
	assert.Equal(t, strings.Join(addresses, ","), cms.endpoints(t, "6641"), "every unit is published")

	// A CMS may write everything, and ovn-northd follows.
	_, err := cms.run(t, "ovn-nbctl", "6641", "--wait=sb", "ls-add", "network")
	require.NoError(t, err)
	out, err := cms.run(t, "ovn-sbctl", "16642", "--bare", "--columns=external_ids", "list", "Datapath_Binding")
	require.NoError(t, err)
	assert.Contains(t, out, "name=network")
	_, err = cms.run(t, "ovn-sbctl", "16642", "set", "SB_Global", ".", "external_ids:by=neutron")
	require.NoError(t, err)

	// A chassis may write its own rows, and no others.
	one, two := c.newClient(t, c.chassis, "chassis-1", c.vault), c.newClient(t, c.chassis, "chassis-2", c.vault)
	for name, chassis := range map[string]client{"chassis-1": one, "chassis-2": two} {
		_, err = chassis.run(t, "ovn-sbctl", "6642", "chassis-add", name, "geneve", "192.0.2."+name[8:])
		require.NoError(t, err, "its own row")
	}
	_, err = one.run(t, "ovn-sbctl", "6642", "set", "Chassis", "chassis-1", "other_config:mine=yes")
	require.NoError(t, err)
	for _, forbidden := range [][]string{
		{"set", "Chassis", "chassis-2", "other_config:mine=yes"},
		{"chassis-add", "chassis-3", "geneve", "192.0.2.3"},
		{"destroy", "Chassis", "chassis-2"},
		{"set", "SB_Global", ".", "external_ids:by=chassis"},
		{"create", "Address_Set", "name=forbidden"},
	} {
		_, err = one.run(t, "ovn-sbctl", "6642", forbidden...)
		assert.ErrorContains(t, err, "permission error", "%v", forbidden)
	}

	// Nobody connects without a certificate from the provider.
	stranger := c.newClient(t, c.cms, "stranger", vault.New("other"))
	for port, program := range map[string]string{"6641": "ovn-nbctl", "6642": "ovn-sbctl", "16642": "ovn-sbctl"} {
		_, err = c.Exec(t.Context(), program, with(stranger.files, "--timeout=2", "--db="+stranger.endpoints(t, port), "list", "Connection")...)
		require.Error(t, err, port)
		_, err = c.Exec(t.Context(), program, "--timeout=2", "--db=tcp:"+units[0].Address()+":"+port, "list", "Connection")
		require.Error(t, err, port)
	}

	for _, u := range units {
		params := fileOf(t, u, "ovn-northd-db-params.conf")
		assert.Contains(t, params, "--ovnnb-db="+strings.Join(addresses, ","))
		assert.Contains(t, params, "--ovnsb-db="+strings.ReplaceAll(strings.Join(addresses, ","), ":6641", ":16642"))
		assert.ElementsMatch(t, []string{"6641/tcp", "6642/tcp", "16642/tcp"}, u.OpenedPorts())
	}
}

func TestAddressIsPublishedOnceTheUnitIsAMemberAndAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	added, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
	require.NoError(t, err)
	var mu sync.Mutex
	var when []string
	added.OnCall(func(call string) {
		if !strings.HasPrefix(call, "relation-set") || !strings.Contains(call, fmt.Sprintf("ovsdb:%d", c.chassis)) && !strings.Contains(call, fmt.Sprintf("ovsdb-cms:%d", c.cms)) {
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
	c.tick(t, "two units that work", c.allActive)
	added.OnCall(nil)
	require.NotEmpty(t, when)
	assert.Equal(t, []string{"published: member member"}, slices.Compact(when))
	assert.Equal(t, `"`+added.Address()+`"`, c.RelationData(c.chassis).Units[added.Name()]["bound-address"])

	// Its machine gets another address: clients learn it, and the certificate is for it.
	u := units[0]
	old, fresh := u.Address(), "10.99.0.77"
	require.NoError(t, c.SetAddress(t.Context(), u, fresh, old))
	c.tick(t, "the new address is published", func() bool {
		return c.RelationData(c.cms).Units[u.Name()]["bound-address"] == `"`+fresh+`"`
	})
	assert.Equal(t, `"`+fresh+`"`, c.RelationData(c.chassis).Units[u.Name()]["bound-address"])
	assert.Equal(t, `"`+fresh+`"`, u.Data()["bound-address"])
	assert.Contains(t, c.RelationData(c.certificates).Units[u.Name()]["sans"], fresh)
	_, err = c.newClient(t, c.cms, "cms", c.vault).run(t, "ovn-nbctl", "6641", "ls-add", "network")
	require.NoError(t, err)
	c.tick(t, "ovn-northd has both databases again", c.allActive)
	says(t, u, "active", "nb: the server's address in the cluster is ssl:"+old+":6643", "remove")
}
