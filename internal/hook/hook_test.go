package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/hook"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

// machine simulates Juju and the machine of ovn-central/0. Its databases are given by fixtures; without a fixture, a
// database is missing.
type machine struct {
	fixtures  map[ovndb.Database]string
	relations []string
	// certificates are the relations to the provider of certificates, gone the relation of a -broken hook; dir keeps the
	// unit's files between hooks.
	certificates []string
	gone, dir    string
	// units are the other units in the peer relation.
	units  []string
	leader bool
	goal   string
	// broken are tools that fail, tools those with other answers.
	broken []string
	tools  map[string]func(run.Command) ([]byte, error)
	// left: the databases that are not served have left. superseded: other clusters replaced those of the files.
	left, superseded bool
	// deaf is the number of questions that nb's server ignores before it has opened its socket.
	deaf int
	// ends is the number of questions that nb's server answers before it ends; 0 means that it does not end. asked is the
	// number of questions that it was asked.
	ends, asked int
	// upgrading: another process upgrades packages, until apt-get has waited for it.
	upgrading bool
	// members are the members in the database files, with their addresses.
	members map[raft.ID]string

	mu  sync.Mutex
	ran []string
	// unit and app are the published data; status is the unit's status.
	unit, app map[string]string
	status    string
	log       bytes.Buffer
}

// services returns systemctl's output: all services run, except the servers of missing databases.
func (m *machine) services() (text string) {
	pids := map[ovndb.Database]int{ovndb.NB: 12, ovndb.SB: 13}
	maps.DeleteFunc(pids, func(d ovndb.Database, _ int) bool { return m.fixtures[d] == "" || d == ovndb.NB && m.ended() })
	show := func(service ovndb.Service, enabled string, pid int) {
		text += fmt.Sprintf("Id=%s.service\nLoadState=loaded\nActiveState=active\nUnitFileState=%s\nMainPID=%d\n\n", service,
			enabled, pid)
	}
	show(ovndb.Northd, "static", 11)
	show(ovndb.NorthboundServer, "disabled", pids[ovndb.NB])
	show(ovndb.SouthboundServer, "disabled", pids[ovndb.SB])
	show(ovndb.Umbrella, "enabled", 0)
	return text
}

// ended reports whether nb's server has ended.
func (m *machine) ended() bool { return m.ends > 0 && m.asked > m.ends }

// Run implements run.Runner.
func (m *machine) Run(_ context.Context, c run.Command) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	refuse := func(code int, text string) ([]byte, error) {
		return nil, &run.Error{Command: c, ExitCode: code, Stderr: text, Err: errors.New("exit status")}
	}
	if slices.Contains(m.broken, c.Name) || slices.Contains(m.broken, c.Name+" --app") &&
		slices.Contains(c.Args, "--app") {
		return refuse(1, "ERROR connection is shut down\n")
	}
	if other := m.tools[c.Name]; other != nil {
		return other(c)
	}
	last := ""
	if len(c.Args) > 0 {
		last = c.Args[len(c.Args)-1]
	}
	switch c.Name {
	case "goal-state":
		return []byte(m.goal), nil
	case "relation-ids":
		switch last {
		case relation.Peer:
			return json.Marshal(m.relations)
		case relation.Certificates:
			return json.Marshal(append([]string{}, m.certificates...))
		}
		return []byte(`[]`), nil
	case "ovsdb-client": // needs-conversion
		return []byte("no\n"), nil
	case "relation-list":
		return json.Marshal(append([]string{}, m.units...))
	case "relation-get", "config-get":
		return []byte(`{}`), nil
	case "is-leader":
		return json.Marshal(m.leader)
	case "relation-set":
		into := &m.unit
		if slices.Contains(c.Args, "--app") {
			into = &m.app
		}
		return nil, json.Unmarshal(c.Stdin, into)
	case "application-version-set", "snap":
		return nil, nil
	case "leader-get":
		settings := map[string]string{}
		for d, fixture := range m.fixtures {
			if s, err := status(fixture); err == nil && s.Cluster != "" {
				settings[d.Short()+"_cid"] = string(s.Cluster)
			}
		}
		m.addSuperseded(settings)
		return json.Marshal(settings)
	case "network-get":
		return []byte(`{"bind-addresses":[{"addresses":[{"value":"10.0.0.1","cidr":"10.0.0.0/24"}]}]}`), nil
	case "dpkg-query":
		if m.upgrading {
			return []byte("ovn-central half-configured 23.03.1-1"), nil
		}
		return []byte("ovn-central installed 23.03.1-1"), nil
	case "apt-get":
		m.upgrading = false
	case "systemctl":
		if c.Args[0] == "show" {
			return []byte(m.services()), nil
		}
	case "status-set":
		m.status = strings.Join(c.Args[1:], " ")
		return nil, nil
	case "ovs-appctl":
		fixture := m.fixtures[ovndb.Database(last)]
		if last == string(ovndb.NB) {
			m.asked++
		}
		if fixture == "" && m.left {
			return refuse(2, "unknown cluster\n")
		} else if last == string(ovndb.NB) && m.deaf > 0 {
			m.deaf--
			return refuse(1, `ovs-appctl: cannot connect to "x.ctl" (No such file or directory)`)
		} else if fixture == "" || last == string(ovndb.NB) && m.ended() {
			return refuse(1, `ovs-appctl: cannot connect to "x.ctl" (Connection refused)`)
		}
		return os.ReadFile(filepath.Join("..", "raft", "testdata", "cluster-status", fixture+".txt"))
	case "ovsdb-tool":
		if c.Args[0] == "check-cluster" && m.left {
			return []byte("record 9 shows that the server left the cluster"), nil
		}
		return nil, nil
	}
	m.ran = append(m.ran, c.String())
	return nil, nil
}

// run runs a hook on the machine.
func (m *machine) run(t *testing.T, name string) error {
	t.Helper()
	if m.goal == "" {
		m.goal = `{"units":{"ovn-central/0":{"status":"active"},"ovn-central/1":{"status":"active"}}}`
	}
	if m.dir == "" {
		m.dir = t.TempDir()
	}
	paths := ovndb.Paths{Run: t.TempDir(), DB: m.dir, Etc: filepath.Join(t.TempDir(), "ovn")}
	for _, d := range ovndb.Databases() {
		require.NoError(t, os.WriteFile(paths.Control(d), nil, 0o600))
		file := observetest.FileOf(d, own, cluster, m.members)
		require.NoError(t, os.WriteFile(paths.File(d), file, 0o600))
	}
	log := slog.New(slog.NewTextHandler(&m.log, nil))
	env := juju.Env{Unit: "ovn-central/0", App: "ovn-central", HookName: name, RelationID: m.gone}
	tools := juju.New(m)
	machine := &observe.Machine{
		Env: env, Control: ovsctl.Control{Runner: m, Paths: paths}, Files: ovsctl.Files{Runner: m, Paths: paths},
		Services: systemd.Services{Runner: m}, Dialer: new(ovsdb.Dialer), Now: time.Now,
		Log: log,
	}
	observer := &observe.Observer{Machine: machine}
	service := &membership.Changer{
		Machine: machine, Observer: observer,
		Goal:     tools.GoalState,
		Progress: func(context.Context, string) {},
	}
	var err error
	synctest.Test(t, func(t *testing.T) { // it waits for a server to store its entries
		err = hook.Run(t.Context(), &reconcile.Reconciler{
			Observer: observer, Tools: tools, Members: service,
			Packages: apt.Packages{Runner: m, Paths: paths}, Firewall: ufw.Firewall{Runner: m},
			Monitoring: monitoring.On(m, t.TempDir()),
		}, name)
	})
	return err
}

// healthy returns a machine whose nb has two other members, and whose sb leads three.
func healthy() *machine {
	return &machine{
		fixtures:  map[ovndb.Database]string{ovndb.NB: "nb-3member-leader", ovndb.SB: "sb-3member-leader"},
		relations: []string{"ovsdb-peer:0"},
	}
}

// id returns the server's ID in a fixture.
func id(t *testing.T, fixture string) raft.ID {
	t.Helper()
	s, err := status(fixture)
	require.NoError(t, err)
	return s.Server
}

func status(fixture string) (raft.Status, error) {
	text, err := os.ReadFile(filepath.Join("..", "raft", "testdata", "cluster-status", fixture+".txt"))
	if err != nil {
		return raft.Status{}, err
	}
	return raft.Parse(string(text))
}

// converging are the hooks that may be the first to see a change.
var converging = []string{
	"install", "upgrade-charm", "config-changed", "start", "update-status", "leader-elected", "leader-settings-changed",
	"ovsdb-peer-relation-created", "ovsdb-peer-relation-joined", "ovsdb-peer-relation-changed",
	"ovsdb-peer-relation-departed",
}

func TestRun_unknown_hook_is_no_error(t *testing.T) {
	m := healthy()
	require.NoError(t, m.run(t, "collect-metrics"))
	assert.Contains(t, m.log.String(), "hook=collect-metrics")
	assert.Empty(t, m.status)
}

func TestHook_publishes_identities_and_status(t *testing.T) {
	nb, sb := id(t, "nb-3member-leader"), id(t, "sb-3member-leader")
	for _, name := range converging {
		t.Run(name, func(t *testing.T) {
			m := healthy()
			require.NoError(t, m.run(t, name))
			assert.Equal(t, nb.Short(), m.unit["nb-identity"])
			assert.Equal(t, sb.Short(), m.unit["sb-identity"])
			assert.Equal(t, string(nb), m.unit["nb-server-id"])
			assert.Equal(t, string(sb), m.unit["sb-server-id"])
			assert.Contains(t, m.status, finding.Lookup(finding.CertificatesMissing).Line,
				"the servers of this test have no files")
			assert.Nil(t, m.app, "only Juju's leader publishes for the application")
			assert.Empty(t, m.ran, "R15: a hook changes nothing")
		})
	}
}

// A refresh from another charm may happen during an unattended upgrade. The existing installation must not be
// mistaken for an empty machine, on which the services would be masked.
func TestInstall_waits_for_running_upgrade_and_adopts(t *testing.T) {
	m := healthy()
	m.upgrading = true
	require.NoError(t, m.run(t, "upgrade-charm"))
	assert.Equal(t, []string{"apt-get --quiet check"}, m.ran)
	assert.Contains(t, m.status, finding.Lookup(finding.CertificatesMissing).Line,
		"the servers of this test have no files")
}

// If these hooks reported a starting server, the unit's status would show it until the next hook.
func TestHook_waits_for_booting_servers(t *testing.T) {
	for _, name := range []string{"start", "config-changed"} {
		t.Run(name, func(t *testing.T) {
			m := healthy()
			m.deaf = 60
			require.NoError(t, m.run(t, name))
			assert.Zero(t, m.deaf)
			assert.Equal(t, id(t, "nb-3member-leader").Short(), m.unit["nb-identity"])
		})
	}
}

// A server may end between any two questions of a hook, as it does on a file that is too new for it. Its file lacks
// entries, so the hook asks it several times before the first step.
func TestHook_server_ends_between_two_questions(t *testing.T) {
	for answers := 1; answers <= 8; answers++ {
		m := healthy()
		m.ends = answers
		require.NoError(t, m.run(t, "start"), "nb's server ends after %d answers", answers)
		require.True(t, m.ended(), "the premise")
		assert.NotEmpty(t, m.status)
		if answers <= 7 { // the server ends before the hook decides
			assert.Empty(t, m.unit["nb-identity"], "nb's server ends after %d answers", answers)
		}
	}
}

func TestHook_leader_publishes_history(t *testing.T) {
	m := healthy()
	m.leader = true
	require.NoError(t, m.run(t, "update-status"))
	assert.Contains(t, m.app["nb-servers"], `"`+string(id(t, "nb-3member-leader"))+`":{"unit":"ovn-central/0"}`)
	assert.Contains(t, m.app["sb-servers"], string(id(t, "sb-3member-leader")))

	m.app, m.broken = nil, []string{"is-leader"}
	require.ErrorContains(t, m.run(t, "update-status"), "is-leader")
	assert.Nil(t, m.app, "a unit that may not lead publishes nothing for the application")

	m.unit, m.broken = nil, []string{"relation-set --app"} // another unit leads now
	require.NoError(t, m.run(t, "config-changed"))
	assert.NotEmpty(t, m.unit)
	assert.Contains(t, m.log.String(), "relation-set")
}

// Unreadable data looks like missing data: a hook that continued would create a second cluster, use a certificate
// that its peers don't trust, or report that the databases should be moved away.
func TestHook_unreadable_peers_fail_without_effect(t *testing.T) {
	for _, name := range converging {
		for _, tool := range []string{"goal-state", "relation-ids", "relation-get", "relation-get --app"} {
			t.Run(name+" without "+tool, func(t *testing.T) {
				m := healthy()
				m.leader, m.broken, m.units = true, []string{tool}, []string{"ovn-central/1"}
				require.ErrorContains(t, m.run(t, name), strings.Fields(tool)[0])
				assert.Empty(t, m.status)
				assert.Empty(t, m.ran)
				assert.Nil(t, m.unit)
				assert.Nil(t, m.app)
			})
		}
	}
}

func TestHook_fails_if_identities_cannot_be_published(t *testing.T) {
	m := healthy()
	m.broken = []string{"relation-set"}
	require.ErrorContains(t, m.run(t, "config-changed"), "relation-set")
}

func TestHook_database_down_does_not_hide_other(t *testing.T) {
	m := healthy()
	m.fixtures[ovndb.NB] = ""
	require.NoError(t, m.run(t, "update-status"))
	assert.Equal(t, "0017", m.unit["nb-identity"], "from its file")
	assert.Equal(t, id(t, "sb-3member-leader").Short(), m.unit["sb-identity"])
}

func TestHook_left_server_has_no_identity(t *testing.T) {
	m := healthy()
	m.fixtures[ovndb.SB], m.left = "", true
	require.NoError(t, m.run(t, "update-status"))
	assert.Empty(t, m.unit["sb-identity"])
	assert.Contains(t, m.unit, "sb-identity", "an empty value deletes the key")
	assert.Contains(t, m.unit, "sb-server-id")
	assert.NotEmpty(t, m.unit["nb-identity"])
}

func TestHook_without_relation_publishes_nothing(t *testing.T) {
	m := healthy()
	m.relations = []string{}
	require.NoError(t, m.run(t, "install"))
	assert.Nil(t, m.unit)
	assert.Contains(t, m.status, finding.Lookup(finding.CertificatesMissing).Line)
}
