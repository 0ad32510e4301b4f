package scenario

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// predecessor lays machines out as the Python charm of the same name leaves them, step by step in its order: packages,
// certificates, defaults, databases, listeners, election timer, firewall. The first machine is that of its Juju leader.
//
// Sources: src/lib/charm/openstack/ovn_central.py, src/reactive and src/templates of charm-ovn-central.
type predecessor struct {
	ca    *vault.CA
	units []*machines.Machine
}

// databases are the names of the databases for the Python charm and the packages.
var databases = []database{{"nb", "OVN_Northbound", "6643"}, {"sb", "OVN_Southbound", "6644"}}

type database struct{ short, schema, raftPort string }

func (p predecessor) layOut(ctx context.Context, t *testing.T) {
	t.Helper()
	each(ctx, t, p.units, func(ctx context.Context, m *machines.Machine) error {
		_, err := m.Shell(ctx, `systemctl mask ovn-central ovn-ovsdb-server-nb ovn-ovsdb-server-sb
apt-get -q update; apt-get -q -y install ovn-central
mkdir -p /var/lib/ovn
ufw --force enable; ufw default allow incoming; ufw default allow outgoing; ufw default allow routed`)
		return err
	})
	for i, m := range p.units {
		p.configure(t, m, i == 0)
		p.start(ctx, t, m, i == 0)
	}
	p.listen(ctx, t)
	each(ctx, t, p.units, p.firewall)
}

// configure writes the output of the charm's templates.
func (p predecessor) configure(t *testing.T, m *machines.Machine, leader bool) {
	t.Helper()
	now := time.Now()
	cert, key := p.ca.Issue(m.Name(), []string{m.Name(), m.Address().String()}, now.Add(-time.Hour), now.Add(24*time.Hour))
	require.NoError(t, m.WriteFile("/etc/ovn/key_host", []byte(key), 0o600))
	require.NoError(t, m.WriteFile("/etc/ovn/cert_host", []byte(cert), 0o644))
	require.NoError(t, m.WriteFile("/etc/ovn/ovn-central.crt", []byte(p.ca.PEM()), 0o644))

	remote := ""
	if !leader {
		remote = p.others(m)[0].Address().String()
	}
	options := "OVN_CTL_OPTS="
	for _, db := range databases {
		for _, o := range []string{
			"--db-%[1]s-cluster-local-addr=%[2]v", "--db-%[1]s-cluster-local-port=%[4]s", "--db-%[1]s-cluster-local-proto=ssl",
			"--ovn-%[1]s-db-ssl-key=/etc/ovn/key_host", "--ovn-%[1]s-db-ssl-cert=/etc/ovn/cert_host",
			"--ovn-%[1]s-db-ssl-ca-cert=/etc/ovn/ovn-central.crt",
			"--db-%[1]s-cluster-remote-addr=%[3]s", "--db-%[1]s-cluster-remote-port=%[4]s", "--db-%[1]s-cluster-remote-proto=ssl",
		} {
			options += " \\\n    " + fmt.Sprintf(o+"%.0[1]s%.0[2]v%.0[3]s%.0[4]s", db.short, m.Address(), remote, db.raftPort)
		}
	}
	header := "# This is a systemd EnvironmentFile as documented in systemd.exec(5)\n#\n# Configuration managed by ovn-central charm\n\n"
	require.NoError(t, m.WriteFile("/etc/default/ovn-central", []byte(header+options+"\n"), 0o644))

	params := "--ovnnb-db=" + p.remotes("6641") + "\n--ovnsb-db=" + p.remotes("16642") +
		"\n-c /etc/ovn/cert_host\n-C /etc/ovn/ovn-central.crt\n-p /etc/ovn/key_host\n"
	require.NoError(t, m.WriteFile("/etc/ovn/ovn-northd-db-params.conf", []byte(params), 0o644))
}

// start makes the clusters by ovn-ctl on the leader's machine, and joins them without their IDs on the others.
func (p predecessor) start(ctx context.Context, t *testing.T, m *machines.Machine, leader bool) {
	t.Helper()
	for _, db := range databases {
		if leader {
			break
		}
		command := []string{"ovsdb-tool", "join-cluster", "/var/lib/ovn/ovn" + db.short + "_db.db", db.schema, raftAddress(m, db.raftPort)}
		for _, other := range p.others(m) {
			command = append(command, raftAddress(other, db.raftPort))
		}
		_, err := m.Exec(ctx, command...)
		require.NoError(t, err)
	}
	_, err := m.Shell(ctx, `systemctl unmask ovn-central ovn-ovsdb-server-nb ovn-ovsdb-server-sb
systemctl enable -q ovn-central; systemctl restart ovn-central`)
	require.NoError(t, err)
	eventually(ctx, t, 3*time.Minute, func() error {
		_, err := m.Shell(ctx, `for d in nb:OVN_Northbound sb:OVN_Southbound; do
	ovs-appctl -t /var/run/ovn/ovn${d%:*}_db.ctl cluster/status ${d#*:} | grep -q '^Status: cluster member'
done`)
		return err
	})
}

// listen makes the rows for clients' connections, and sets the election timer in the steps that a server accepts.
func (p predecessor) listen(ctx context.Context, t *testing.T) {
	t.Helper()
	_, err := p.units[0].Shell(ctx, `listen() {
	ovn-$1ctl -- --id=@connection create connection "target=\"pssl:$2\"" -- add $3 . connections @connection
	row=$(ovn-$1ctl --bare --columns=_uuid find connection "target=\"pssl:$2\"")
	ovn-$1ctl set connection $row inactivity_probe=60000 $4
}
listen nb 6641 NB_Global ''
listen sb 6642 SB_Global role=ovn-controller
listen sb 16642 SB_Global ''
for d in nb:OVN_Northbound sb:OVN_Southbound; do
	for ms in 2000 4000; do
		until ovs-appctl -t /var/run/ovn/ovn${d%:*}_db.ctl cluster/change-election-timer ${d#*:} $ms; do sleep .2; done
	done
done`)
	require.NoError(t, err)
}

// firewall closes the ports without access control to all but peers.
func (p predecessor) firewall(ctx context.Context, m *machines.Machine) error {
	script := ""
	for _, port := range []string{"6641", "16642", "6644", "6643"} {
		script += "ufw reject proto tcp to any port " + port + " comment charm-ovn-central\n"
		for _, other := range p.others(m) {
			script += fmt.Sprintf("ufw prepend allow proto tcp from %v to any port %s comment charm-ovn-central\n", other.Address(), port)
		}
	}
	_, err := m.Shell(ctx, script)
	return err
}

func (p predecessor) others(m *machines.Machine) []*machines.Machine {
	var others []*machines.Machine
	for _, other := range p.units {
		if other != m {
			others = append(others, other)
		}
	}
	return others
}

func (p predecessor) remotes(port string) string {
	var list []string
	for _, m := range p.units {
		list = append(list, raftAddress(m, port))
	}
	return strings.Join(list, ",")
}

func raftAddress(m *machines.Machine, port string) string {
	return "ssl:" + net.JoinHostPort(m.Address().String(), port)
}
