package scenario

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// Life runs the life of an application on machines under a writer, and what only machines show in between.
func Life(t *testing.T) {
	t.Helper()
	ctx, s := newStory(t, packedCharm(t), machines.Options{})
	judged := s.life.Begin(ctx)
	var last []string // the units that are removed with the application
	after := map[string][]part{
		cluster.Deployed.Name: {{"none of them has a database yet", s.haveNoDatabase}},
		cluster.Quiet.Name: {
			{"a second run of every hook changes nothing", s.runAgain},
			{"clients need nothing but the relation", s.connectClients},
			{"a package that is installed again restarts nothing while that is held back", s.reinstall},
			{"the acting agent is killed, and one acts again", s.killAgent},
			{"systemd restarts an agent that hangs", s.freezeAgent},
			{"an agent's socket takes a node out", s.operateByTheSocket},
		},
		cluster.Reused.Name:    {{"certificates are renewed, then the CA is replaced", s.renewCertificates}},
		cluster.Restarted.Name: {{"their firewalls are there again", s.haveFirewalls}},
		cluster.Blackout.Name: {{"the writer has lost nothing", func(ctx context.Context, t *testing.T) {
			nothingIsLost(ctx, t, s.client)
			last = s.alive(ctx, t)
		}}},
		cluster.Destroyed.Name: {{"its machines serve no more, and keep the data", func(ctx context.Context, t *testing.T) {
			for _, unit := range last {
				servesNoMore(ctx, t, s.Machines[unit])
				dataIsKept(ctx, t, s.Machines[unit])
			}
		}}},
	}
	var parts []part
	for _, step := range cluster.On(cluster.Machines, cluster.Life) {
		parts = append(append(parts, s.told(step)), after[step.Name]...)
	}
	s.play(ctx, t, parts)
	wrong, err := judged()
	require.NoError(t, err)
	assert.Empty(t, wrong)
}

func (s *story) haveNoDatabase(ctx context.Context, t *testing.T) {
	for _, unit := range s.alive(ctx, t) {
		_, err := s.Machines[unit].Exec(ctx, "test", "!", "-e", "/var/lib/ovn/ovnnb_db.db")
		assert.NoError(t, err, unit)
	}
}

// runAgain repeats every agent's hooks of a start, and compares files and processes.
func (s *story) runAgain(ctx context.Context, t *testing.T) {
	status, err := s.Status(ctx)
	require.NoError(t, err)
	assert.NotEmpty(t, status.AppVersion)
	assert.NotEmpty(t, status.LeaderSettings["nb_cid"])
	assert.NotEmpty(t, status.LeaderSettings["sb_cid"])

	before := s.traces(ctx, t)
	for _, unit := range s.alive(ctx, t) {
		require.NoError(t, s.UpdateStatus(ctx, unit))
	}
	require.NoError(t, s.Configure(ctx, map[string]string{"ovsdb-server-election-timer": "4"}))
	s.settle(ctx, t)
	assert.Equal(t, before, s.traces(ctx, t))
}

// traces returns what a hook might change: per unit, the charm's files, the databases' servers and the firewall.
func (s *story) traces(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	return s.each(ctx, t, `stat -c '%n %i %Y %a' /etc/default/ovn-central /etc/ovn/*
systemctl show -P MainPID ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-northd
ufw status`)
}

func (s *story) haveFirewalls(ctx context.Context, t *testing.T) {
	for unit, rules := range s.each(ctx, t, "ufw status") {
		assert.Contains(t, rules, "6644/tcp", unit)
	}
}

// leaves retires the first leaving unit with its node; each one keeps its databases under another name.
func (s *story) leaves(ctx context.Context, t *testing.T, unit string) (gone func() error) {
	ended := func() {}
	if !s.retired {
		ended, s.retired = s.decommission(ctx, t, unit), true
	}
	return func() error {
		ended()
		left, err := s.Machines[unit].Shell(ctx, "ls /var/lib/ovn")
		assert.Contains(t, left, ".left-", "the databases of %s", unit)
		assert.NotContains(t, strings.Fields(left), "ovnnb_db.db", unit)
		return err
	}
}

func servesNoMore(ctx context.Context, t *testing.T, m *machines.Machine) {
	t.Helper()
	_, err := m.Exec(ctx, "systemctl", "is-active", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd", agentService)
	assert.Error(t, err, "%s serves on", m.Name())
	_, err = m.Shell(ctx, "test ! -e /etc/systemd/system/"+agentService+".service && test ! -e /etc/ovn/"+agentService+".json")
	assert.NoError(t, err, "the agent of %s is not gone", m.Name())
}

// dataIsKept requires that the databases of a removed application are on the disk (R9) as readable clustered files.
func dataIsKept(ctx context.Context, t *testing.T, m *machines.Machine) {
	t.Helper()
	_, err := m.Shell(ctx, `for f in $(ls -t /var/lib/ovn/ovnnb_db.db* | grep -v lock); do
	ovsdb-tool cluster-to-standalone /tmp/kept "$f" && ovsdb-tool query /tmp/kept \
		'["OVN_Northbound",{"op":"select","table":"Logical_Switch","where":[["name","==","net"]],"columns":["name"]}]' | grep -q net && exit
	rm -f /tmp/kept
done
exit 1`)
	assert.NoError(t, err, "the data of %s is not on its disk", m.Name())
}
