package hook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// stopped are the commands that stop the services for good.
var stopped = []string{
	"systemctl stop ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
	"systemctl disable ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central",
}

// cluster is the cluster of the database files; replacing is the cluster that has replaced it.
const (
	cluster   raft.ID = "c1d00c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
	replacing raft.ID = "4e300c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
)

// own and other are the two members of cluster, on machines that do not answer.
const (
	own   raft.ID = "00170c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
	other raft.ID = "13e40c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
)

// silent returns two members whose machines do not answer.
func silent() map[raft.ID]string {
	return map[raft.ID]string{own: "tcp:127.255.255.1:6643", other: "tcp:127.255.255.2:6643"}
}

// addSuperseded adds the Juju leader's published record of a recovery.
func (m *machine) addSuperseded(settings map[string]string) {
	for _, d := range ovndb.Databases() {
		if m.superseded {
			settings[d.Short()+"_cid"], settings[d.Short()+"_superseded"] = string(replacing), string(cluster)
		}
	}
}

// allDying is the goal state while the application is removed, dying while this unit is removed.
const allDying = `{"units":{"ovn-central/0":{"status":"dying"},"ovn-central/1":{"status":"dying"}}}`

const dying = `{"units":{"ovn-central/0":{"status":"dying"},"ovn-central/1":{"status":"active"}}}`

// Juju 4 waits for the peer relation's hook, but not for a `stop` after it.
func TestR9_stop_and_peer_broken_refused_change_nothing(t *testing.T) {
	for _, hook := range []string{"stop", broken} {
		m := healthy()
		m.goal, m.fixtures[ovndb.NB] = dying, "nb-leader-one-of-three-dead"
		err := m.run(t, hook)
		assert.Equal(t, []string{"nb QUORUM_WOULD_BE_LOST"}, findingtest.Codes(err), hook)
		assert.Equal(t, hook == broken, strings.Contains(findingtest.Briefs(err), "IF_HOOK_SKIPPED"), hook)
		assert.Regexp(t, "^blocked "+finding.About(finding.LeaveBlocked, "ovn-central/0", finding.Args{}).Line()+"; .*ca3c",
			m.status, hook)
		assert.NotContains(t, m.status, "next:", "the log has the remedies")
		assert.Nil(t, m.unit, "its identities stay published")
		assert.Empty(t, m.ran, hook)
	}
}

// The part of the text that `juju status` shows has the command to type.
func TestR1_stop_needed_server_names_start_command(t *testing.T) {
	m := &machine{goal: dying, members: silent()}
	assert.Equal(t, []string{"nb SERVER_NEEDED", "sb SERVER_NEEDED"}, findingtest.Codes(m.run(t, "stop")))
	assert.Regexp(t, "^blocked ovn-central/0 .*juju run ovn-central/0 resume", m.status)
	assert.Empty(t, m.ran)
}

// A stopped server can't leave, so servers that a pause has stopped are started once, in any case.
func TestR9_stop_starts_paused_servers(t *testing.T) {
	m := &machine{goal: dying, dir: t.TempDir(), members: silent()}
	record := filepath.Join(m.dir, "ovn-central-operator.unit.json")
	require.NoError(t, os.WriteFile(record, []byte(`{"unit":{"paused":true}}`), 0o600))
	require.ErrorAs(t, m.run(t, "stop"), new(*finding.RefusedError), "they don't start, and the others need them")
	for _, service := range []string{"ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"} {
		assert.Contains(t, m.ran, "systemctl unmask "+service)
		assert.Contains(t, m.ran, "systemctl start "+service)
	}
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.NotContains(t, string(text), `"paused"`, "a unit whose removal waits votes")

	m.ran, m.goal = nil, allDying
	require.NoError(t, os.WriteFile(record, []byte(`{"unit":{"paused":true}}`), 0o600))
	require.NoError(t, m.run(t, "stop"))
	assert.NotContains(t, m.ran, "systemctl start ovn-ovsdb-server-nb", "no unit stays")
}

// The other units have another cluster, so they need no server of the replaced one.
func TestR9_stop_archives_given_up_cluster(t *testing.T) {
	m := &machine{
		goal: dying, superseded: true, relations: []string{"ovsdb-peer:0"}, dir: t.TempDir(),
		members: silent(),
	}
	require.NoError(t, m.run(t, "stop"))
	for _, file := range []string{"ovnnb_db.db", "ovnsb_db.db"} {
		assert.NoFileExists(t, filepath.Join(m.dir, file))
		archived, err := filepath.Glob(filepath.Join(m.dir, file+".left-*"))
		require.NoError(t, err)
		assert.Len(t, archived, 1, "R10: it is renamed, never deleted")
	}
	for _, d := range ovndb.Databases() {
		assert.Contains(t, m.ran, "systemctl stop ovn-ovsdb-server-"+d.Short())
	}
	assert.Equal(t, stopped, m.ran[len(m.ran)-len(stopped):])
	assert.Empty(t, m.unit["nb-identity"])
}

// remade returns a unit that is being removed, with the files of new clusters that it has made and that were
// published.
func remade(t *testing.T) *machine {
	t.Helper()
	m := &machine{
		goal: dying, superseded: true, dir: t.TempDir(),
		members: silent(),
	}
	for _, d := range ovndb.Databases() {
		const id raft.ID = "4e310c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
		text := observetest.FileOf(d, id, replacing, map[raft.ID]string{id: "tcp:127.255.255.1:6643"})
		require.NoError(t, os.WriteFile(ovndb.Paths{DB: m.dir}.File(d)+".new", text, 0o600))
	}
	return m
}

// This unit's part of the new cluster may be the only copy, and no other hook runs while its `stop` fails.
func TestR9_stop_commits_new_cluster_and_waits_for_joins(t *testing.T) {
	m := remade(t)
	err := m.run(t, "stop")
	assert.Equal(t, []string{"nb ONLY_COPY", "sb ONLY_COPY"}, findingtest.Codes(err))
	assert.Contains(t, m.status, "juju run ovn-central/0 resume")
	for _, file := range []string{"ovnnb_db.db", "ovnsb_db.db"} {
		text, err := os.ReadFile(filepath.Join(m.dir, file))
		require.NoError(t, err)
		assert.Contains(t, string(text), replacing)
		assert.NoFileExists(t, filepath.Join(m.dir, file+".new"))
		archived, err := filepath.Glob(filepath.Join(m.dir, file+".left-*"))
		require.NoError(t, err)
		assert.Len(t, archived, 1)
	}
	assert.NotContains(t, m.ran, "systemctl disable ovn-northd ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-central")
}

// If Juju does not answer, the new cluster's file waits, and nothing else is moved away.
func TestR9_stop_keeps_files_if_Juju_is_silent(t *testing.T) {
	m := remade(t)
	m.broken = []string{"is-leader"}
	err := m.run(t, "stop")
	assert.Equal(t, []string{"nb NEW_CLUSTER_UNPLACED", "sb NEW_CLUSTER_UNPLACED"}, findingtest.Codes(err))
	assert.Contains(t, findingtest.Briefs(err), "Reasons=BESIDE "+filepath.Join(m.dir, "ovnnb_db.db"))
	assert.Contains(t, m.status, "juju run ovn-central/0 resume")
	assert.Empty(t, m.ran)
	assert.FileExists(t, filepath.Join(m.dir, "ovnnb_db.db"))
}

func TestR9_stop_fails_even_if_status_cannot_be_set(t *testing.T) {
	m := healthy()
	m.goal, m.fixtures[ovndb.NB], m.broken = dying, "nb-leader-one-of-three-dead", []string{"status-set"}
	require.ErrorAs(t, m.run(t, "stop"), new(*finding.RefusedError))
}

func TestR9_stop_needs_no_relation(t *testing.T) {
	for name, broken := range map[string][]string{
		"gone":         nil,
		"out of reach": {"relation-ids", "relation-list", "relation-get", "relation-set"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &machine{left: true, goal: dying, broken: broken}
			require.NoError(t, m.run(t, "stop"))
			assert.Equal(t, stopped, m.ran)
		})
	}
}

func TestStop_withdraws_published_data(t *testing.T) {
	m := &machine{left: true, goal: dying, relations: []string{"ovsdb-peer:0"}}
	require.NoError(t, m.run(t, "stop"))
	assert.Equal(t, stopped, m.ran)
	for _, key := range []string{"identity", "server-id", "cluster-id"} {
		for _, db := range ovndb.Databases() {
			value, there := m.unit[db.Short()+"-"+key]
			assert.True(t, there, key)
			assert.Empty(t, value, key)
		}
	}
	m.broken = []string{"relation-set"}
	require.NoError(t, m.run(t, "stop"))
	assert.Contains(t, m.log.String(), "relation-set")
}

func TestStop_keeps_identity_of_remaining_member(t *testing.T) {
	m := &machine{goal: dying, relations: []string{"ovsdb-peer:0"}} // both servers are down
	require.NoError(t, m.run(t, "stop"))
	assert.Equal(t, stopped, m.ran)
	assert.Equal(t, "0017", m.unit["nb-identity"], "the others can still name its unit")
}

func TestR9_stop_and_peer_broken_of_whole_application_keep_data(t *testing.T) {
	for _, hook := range []string{"stop", broken} {
		m := healthy()
		m.goal = allDying
		require.NoError(t, m.run(t, hook))
		assert.Equal(t, stopped, m.ran, hook)
		assert.Regexp(t, "nb: .*"+filepath.Join(m.dir, "ovnnb_db.db"), m.log.String(), hook)
	}
}

func TestStop_retried_if_services_do_not_end(t *testing.T) {
	m := &machine{left: true, goal: dying, relations: []string{"ovsdb-peer:0"}, broken: []string{"systemctl"}}
	require.ErrorContains(t, m.run(t, "stop"), "systemctl")
	assert.Nil(t, m.unit)
}

// If an upgrade was interrupted, for example by a full disk, and can't be finished, damaged files are still searched
// for and reported, and the report is not withdrawn.
func TestHook_interrupted_upgrade_hides_no_damage(t *testing.T) {
	m := healthy()
	m.upgrading, m.broken = true, []string{"apt-get", "dpkg"}
	require.NoError(t, m.run(t, "update-status"))
	assert.Contains(t, m.log.String(), "cannot install")
	assert.Regexp(t, `database=(nb|sb) missing="[^"]*\d+`, m.log.String())
	assert.NotContains(t, m.log.String(), `missing=""`)
	assert.True(t, strings.HasPrefix(m.status, "blocked nb, sb: "+finding.Lookup(finding.FileLacksEntries).Line), m.status)
}

const broken = "ovsdb-peer-relation-broken"

func TestPeerBroken_staying_unit_does_nothing(t *testing.T) {
	m := healthy()
	require.NoError(t, m.run(t, broken))
	assert.Empty(t, m.ran)
	assert.Empty(t, m.status)
}

// R9: if the state is unknown, the unit may not leave, and nothing that may stay is stopped.
func TestR9_peer_broken_fails_if_Juju_is_silent(t *testing.T) {
	m := healthy()
	m.goal, m.broken = dying, []string{"goal-state"}
	err := m.run(t, broken)
	require.ErrorContains(t, err, "goal-state")
	assert.Empty(t, findingtest.Codes(err), "nothing is known of the clusters")
	assert.Nil(t, m.unit, "its identities stay published")
	assert.Empty(t, m.ran)
}

func TestStop_after_peer_broken_does_nothing(t *testing.T) {
	m := &machine{left: true, goal: dying}
	require.NoError(t, m.run(t, broken))
	assert.Equal(t, stopped, m.ran)
	m.ran = nil
	require.NoError(t, m.run(t, "stop"))
	assert.Equal(t, stopped, m.ran, "nothing is started")
}
