//go:build programs

package ovsdb_test

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// control is a Southbound server that listens by its rows. Its ovn-northd makes the rows of the roles.
type control struct {
	*server
	authority *vault.CA
}

func newControl(t *testing.T) control {
	t.Helper()
	c := control{ovsdbtest.New(t, ovndb.SB, loopbacktest.Network(t)+".1").Create(t), vault.New("root")}
	files := issue(t, c.authority, "server", time.Hour)
	listening(c.server, append(options(files), "--remote=db:OVN_Southbound,SB_Global,connections")).Start(t)
	nb := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t).Start(t)
	dir := t.TempDir()
	ovsdbtest.Run(t, []string{"OVN_RUNDIR=" + dir, "OVS_RUNDIR=" + dir}, "ovn-northd", "-vconsole:off",
		"--unixctl="+filepath.Join(dir, "ctl"), "--ovnnb-db="+nb.Endpoint(), "--ovnsb-db="+c.Endpoint())
	require.Eventually(t, func() bool {
		return strings.Contains(ctl(t, c.server, "--columns=name list RBAC_Role"), "ovn-controller")
	}, patience, 50*time.Millisecond, "ovn-northd makes no roles")
	return c
}

// port returns a target at the server's own address, and the endpoint of that target for clients.
func (c control) port(number string) (target, endpoint string) {
	host := strings.Split(c.Address, ":")[1]
	return "pssl:" + number + ":" + host, "ssl:" + host + ":" + number
}

// as runs OVN's tool at the endpoint, with a certificate for the name.
func (c control) as(t *testing.T, name, endpoint string, args ...string) error {
	t.Helper()
	own := append(options(issue(t, c.authority, name, time.Hour)), "--timeout=10", "--db="+endpoint)
	_, err := run.Exec{}.Run(within(t, patience), run.Command{Name: "ovn-sbctl", Args: append(own, args...)})
	return err
}

func (c control) listens(t *testing.T, endpoint string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", strings.TrimPrefix(endpoint, "ssl:"))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, patience, 20*time.Millisecond, "%s does not listen", endpoint)
}

// listeners makes a server listen for chassis and for management.
func (c control) listeners(t *testing.T) (chassis, management string) {
	t.Helper()
	chassisTarget, chassis := c.port("6642")
	target, management := c.port("16642")
	ensure(t, c.server, ovsdb.Connection{Target: chassisTarget, Role: "ovn-controller", InactivityProbe: minute},
		ovsdb.Connection{Target: target, InactivityProbe: minute})
	c.listens(t, chassis)
	c.listens(t, management)
	return chassis, management
}

func TestRBAC_chassis_write_own_rows_only(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	chassis, management := c.listeners(t)
	require.NoError(t, c.as(t, "chassis-1", chassis, "chassis-add", "chassis-1", "geneve", "127.0.0.1"))
	require.NoError(t, c.as(t, "chassis-1", chassis, "set", "Chassis", "chassis-1", "external_ids:a=b"))
	require.NoError(t, c.as(t, "chassis-1", chassis, "list", "SB_Global"))
	for _, refused := range []string{
		"set Chassis chassis-1 external_ids:a=c", "set SB_Global . external_ids:a=b", "del-connection",
		`create Logical_Flow pipeline=ingress table_id=0 priority=0 match="" actions=""`,
	} {
		assert.ErrorContains(t, c.as(t, "chassis-2", chassis, strings.Fields(refused)...), "RBAC rules", refused)
	}
	require.NoError(t, c.as(t, "neutron", management, "set", "SB_Global", ".", "external_ids:a=b"))
}

func TestRestricted(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	chassis, management := c.listeners(t)
	before := ctl(t, c.server, "list SB_Global")
	d := &ovsdb.Dialer{Credentials: issue(t, c.authority, "client", time.Hour)}
	for endpoint, want := range map[string]bool{chassis: true, management: false} {
		restricted, err := d.Restricted(within(t, patience), endpoint)
		require.NoError(t, err)
		assert.Equal(t, want, restricted)
	}
	assert.Equal(t, before, ctl(t, c.server, "list SB_Global"), "nothing was written")
	_, err := d.Restricted(t.Context(), "unix:/nonexistent")
	require.Error(t, err)
}

// Before OVS 3.3.0, setting the role's column has no effect.
func TestEnsureConnections_role_takes_effect(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	target, endpoint := c.port("6642")
	tool(t, c.server, "set-connection", target)
	c.listens(t, endpoint)
	require.NoError(t, c.as(t, "chassis-1", endpoint, "set", "SB_Global", ".", "external_ids:a=b"))

	restricted := ovsdb.Connection{Target: target, Role: "ovn-controller", InactivityProbe: minute}
	assert.Equal(t, []string{target}, ensure(t, c.server, restricted))
	c.listens(t, endpoint)
	require.ErrorContains(t, c.as(t, "chassis-1", endpoint, "set", "SB_Global", ".", "external_ids:a=c"), "RBAC rules")
}

func TestEnsureConnections_both_families_are_served(t *testing.T) {
	t.Parallel()
	c := newControl(t)
	port := freePort(t)
	narrow := ovsdb.Connection{Target: "pssl:" + port, InactivityProbe: minute}
	ensure(t, c.server, narrow)
	c.listens(t, "ssl:127.0.0.1:"+port)
	_, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "[::1]:"+port)
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "without an address, a listener is for IPv4 only")

	ensure(t, c.server, ovsdb.Connection{Target: narrow.Target + ":[::]", InactivityProbe: minute})
	files := issue(t, c.authority, "client", time.Hour)
	for _, endpoint := range []string{"ssl:[::1]:" + port, "ssl:127.0.0.1:" + port} {
		c.listens(t, endpoint)
		_, err := (&ovsdb.Dialer{Credentials: files}).Server(t.Context(), ovndb.SB, endpoint)
		require.NoError(t, err)
	}
}
