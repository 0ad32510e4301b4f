package deployment

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// client is a machine that knows the relation's data, and has a certificate from the same provider.
type client struct {
	c        *labtest.Model
	relation int
	files    lab.Credentials
}

// newClient returns a client whose certificate is for a name. A chassis' name is its system-id, by which the roles
// know it.
func newClient(c *labtest.Model, relation int, name string, from *vault.CA) client {
	c.T.Helper()
	return client{c, relation, credentialsOf(c.T, name, from, c.CA())}
}

// endpoints returns the endpoints that the client derives from the relation's data for a port.
func (k client) endpoints(port string) string {
	k.c.T.Helper()
	var all []string
	for _, bag := range k.c.RelationData(k.relation).Units {
		var address string
		require.NoError(k.c.T, json.Unmarshal([]byte(bag["bound-address"]), &address))
		all = append(all, "ssl:"+address+":"+port)
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// run runs one of OVN's clients at a port.
func (k client) run(program, port string, args ...string) (string, error) {
	k.c.T.Helper()
	return k.c.Exec(k.c.Patient(), program, with(k.files, append([]string{"--db=" + k.endpoints(port)}, args...)...)...)
}

func TestClients_connect_with_relation_data_and_role(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{})
	var addresses []string
	for _, u := range units {
		addresses = append(addresses, "ssl:"+u.Address()+":6641")
	}
	cms := newClient(c, c.CMS, "neutron", c.CA())
	assert.Equal(t, strings.Join(addresses, ","), cms.endpoints("6641"), "every unit is published")

	// A CMS may write everything, and ovn-northd follows.
	_, err := cms.run("ovn-nbctl", "6641", "--wait=sb", "ls-add", "network")
	require.NoError(t, err)
	out, err := cms.run("ovn-sbctl", "16642", "--bare", "--columns=external_ids", "list", "Datapath_Binding")
	require.NoError(t, err)
	assert.Contains(t, out, "name=network")
	_, err = cms.run("ovn-sbctl", "16642", "set", "SB_Global", ".", "external_ids:by=neutron")
	require.NoError(t, err)

	// A chassis may write its own rows, and no others.
	one, two := newClient(c, c.Chassis, "chassis-1", c.CA()), newClient(c, c.Chassis, "chassis-2", c.CA())
	for name, chassis := range map[string]client{"chassis-1": one, "chassis-2": two} {
		_, err = chassis.run("ovn-sbctl", "6642", "chassis-add", name, "geneve", "192.0.2."+name[8:])
		require.NoError(t, err, "its own row")
	}
	_, err = one.run("ovn-sbctl", "6642", "set", "Chassis", "chassis-1", "other_config:mine=yes")
	require.NoError(t, err)
	for _, forbidden := range [][]string{
		{"set", "Chassis", "chassis-2", "other_config:mine=yes"},
		{"chassis-add", "chassis-3", "geneve", "192.0.2.3"},
		{"destroy", "Chassis", "chassis-2"},
		{"set", "SB_Global", ".", "external_ids:by=chassis"},
		{"create", "Address_Set", "name=forbidden"},
	} {
		_, err = one.run("ovn-sbctl", "6642", forbidden...)
		assert.ErrorContains(t, err, "permission error", "%v", forbidden)
	}

	// No client connects without a certificate from the provider.
	stranger := newClient(c, c.CMS, "stranger", vault.New("other"))
	for port, program := range map[string]string{"6641": "ovn-nbctl", "6642": "ovn-sbctl", "16642": "ovn-sbctl"} {
		_, err = c.Exec(t.Context(), program, with(stranger.files, "--timeout=2", "--db="+stranger.endpoints(port), "list", "Connection")...)
		require.Error(t, err, port)
		_, err = c.Exec(t.Context(), program, "--timeout=2", "--db=tcp:"+units[0].Address()+":"+port, "list", "Connection")
		require.Error(t, err, port)
	}

	for _, u := range units {
		params := c.FileOf(u, "ovn-northd-db-params.conf")
		assert.Contains(t, params, "--ovnnb-db="+strings.Join(addresses, ","))
		assert.Contains(t, params, "--ovnsb-db="+strings.ReplaceAll(strings.Join(addresses, ","), ":6641", ":16642"))
		assert.ElementsMatch(t, []string{"6641/tcp", "6642/tcp"}, u.OpenedPorts(), "16642 knows no roles: juju expose is not to open it")
	}
	cms.areCountedAndAwaited(units)
}

// areCountedAndAwaited starts clients that follow the Northbound database at one member. Every unit shows how many
// clients each member has, and the member isn't restarted while it still has to send something to some of them.
func (k client) areCountedAndAwaited(units []*lab.Unit) {
	k.c.T.Helper()
	c, u, other := k.c, units[1], units[0]
	before := k.counted(u, u)
	processesOf := k.follow(u, 24)
	assert.Equal(k.c.T, before+24, k.counted(u, u))
	c.RunUpdateStatus(u)
	assert.Equal(k.c.T, before+24, k.counted(other, u), "the other units know it by its last hook")
	assert.Contains(k.c.T, c.Act(other, "cluster-status", "format=json")["clients"], strconv.Itoa(before+24))

	for _, pid := range processesOf[:3] { // they don't read the data that they receive
		require.NoError(k.c.T, syscall.Kill(pid, syscall.SIGSTOP))
	}
	for i := range 10 {
		_, err := k.run("ovn-nbctl", "6641", "set", "NB_Global", ".", fmt.Sprintf("external_ids:large-%d=%s", i, strings.Repeat("x", 100_000)))
		require.NoError(k.c.T, err)
	}
	was := k.c.Processes(u)
	restarted := make(chan string)
	go func() {
		r, err := c.RunAction(k.c.T.Context(), u, "restart-services", "services=ovn-ovsdb-server-nb")
		assert.NoError(k.c.T, err)
		assert.Equal(k.c.T, "completed", r.Status, r.Message)
		restarted <- r.Results["restarted"]
	}()
	select {
	case <-restarted:
		k.c.T.Error("it was restarted while clients still were sent what they follow")
	case <-time.After(6 * time.Second): // without clients it takes less than two
		assert.Equal(k.c.T, was, k.c.Processes(u))
		for _, pid := range processesOf[:3] {
			require.NoError(k.c.T, syscall.Kill(pid, syscall.SIGCONT))
		}
		assert.Equal(k.c.T, "ovn-ovsdb-server-nb", <-restarted)
	}
	assert.NotEqual(k.c.T, was[u.Name()+" nb"], k.c.Processes(u)[u.Name()+" nb"])
	assert.Less(k.c.T, k.counted(u, u), 24, "clients that lost their server do not come back by themselves")
}

// follow starts clients that follow the Northbound database at one member. It returns once each has the database.
func (k client) follow(u *lab.Unit, n int) (pids []int) {
	k.c.T.Helper()
	dir, err := os.MkdirTemp("", "clients-") // a short name, since they create a socket in it
	require.NoError(k.c.T, err)
	k.c.T.Cleanup(func() { _ = os.RemoveAll(dir) })
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("%d.pid", i))
		_, err := k.c.Exec(k.c.Patient(), "sh", append([]string{"-c", `OVS_RUNDIR=$0 exec ovsdb-client "$@" >/dev/null 2>&1`, dir}, with(k.files, "--timeout=60", "--no-leader-only", "--detach", "--no-chdir", "--pidfile="+path,
			"monitor", "ssl:"+u.Address()+":6641", "OVN_Northbound", "NB_Global")...)...)
		require.NoError(k.c.T, err)
		text, err := os.ReadFile(path)
		require.NoError(k.c.T, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(k.c.T, err)
		k.c.T.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		pids = append(pids, pid)
	}
	return pids
}

// counted returns the number of clients of the Northbound database that a unit shows for a member.
func (k client) counted(from, of *lab.Unit) int {
	k.c.T.Helper()
	var document struct {
		Members []struct {
			Unit    string
			Clients *int
		}
	}
	require.NoError(k.c.T, json.Unmarshal([]byte(k.c.Act(from, "cluster-status", "format=json")["ovnnb"]), &document))
	for _, m := range document.Members {
		if m.Unit == of.Name() {
			require.NotNil(k.c.T, m.Clients)
			return *m.Clients
		}
	}
	k.c.T.Fatal("no such member")
	return 0
}
