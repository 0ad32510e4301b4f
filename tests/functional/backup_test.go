package functional

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// manifest is what the tests look at of a backup's.
type manifest struct {
	Unit      string
	Taken     time.Time
	OVN       string `json:"ovn-version"`
	OVS       string `json:"ovs-version"`
	Databases []struct {
		Name    string
		Source  string
		Cluster raft.ID `json:"cluster-id"`
		Server  string  `json:"server-id"`
		Term    uint64
		Index   uint64
		Schema  string `json:"schema-version"`
	}
}

func readManifest(t *testing.T, dir string) (m manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &m))
	return m
}

// Under a load each copy is of one moment, has all that was acknowledged before it, and
// any unit makes it: the leader, a follower, and one whose servers are down.
func TestBackupHasWhatWasAcknowledgedBeforeIt(t *testing.T) {
	m := deploy(t, 3)
	w := m.StartWriter(t.Context(), 0)
	for _, u := range m.units {
		name := "before-" + strings.ReplaceAll(u.Name(), "/", "-")
		_, err := u.Exec(t.Context(), "ovn-nbctl", "--timeout=30", "--db="+m.Remotes(lab.NB), "ls-add", name)
		require.NoError(t, err)
		m.eventually("the switch is seen on this unit", func() bool {
			out, err := u.Exec(t.Context(), "ovn-nbctl", "--timeout=5", "--no-leader-only", "--db=unix:"+filepath.Join(u.RunDir(), "ovnnb_db.sock"), "ls-list")
			return err == nil && strings.Contains(out, name)
		})
		dir := m.act(u, "backup")["backup"]
		m.requireManifest(dir, u)
		assert.Contains(t, m.switches(dir), name)
	}
	m.verified(w)
	first := m.act(m.units[2], "backup")["backup"]
	assert.NotEqual(t, first, m.act(m.units[2], "backup")["backup"], "two in a row")

	m.killServers(m.units[2])
	planned := m.act(m.units[2], "backup", "dry-run=true")
	assert.Contains(t, planned["warnings"], "sb: this unit's server serves nothing")
	results := m.act(m.units[2], "backup")
	assert.Contains(t, results["warnings"], "nb: this unit's server serves nothing")
	assert.Equal(t, "file", readManifest(t, results["backup"]).Databases[0].Source)
	assert.Contains(t, m.switches(results["backup"]), "before-")
}

// requireManifest requires of a backup that was just taken on a unit that its manifest says
// what that unit's servers say.
func (m *model) requireManifest(dir string, u *lab.Unit) {
	m.t.Helper()
	made := readManifest(m.t, dir)
	assert.Equal(m.t, u.Name(), made.Unit)
	assert.Equal(m.t, filepath.Base(dir), made.Taken.Format("20060102T150405Z"))
	assert.Equal(m.t, u.Packages()["ovn-central"], made.OVN)
	assert.Equal(m.t, u.Packages()["openvswitch-common"], made.OVS)
	require.Len(m.t, made.Databases, 2)
	for i, db := range []lab.DB{lab.NB, lab.SB} {
		x := made.Databases[i]
		s, err := m.status(u, db)
		require.NoError(m.t, err)
		server, err := u.ServerID(m.t.Context(), db)
		require.NoError(m.t, err)
		schema, err := u.Exec(m.t.Context(), "ovsdb-client", "--timeout=10", "--no-leader-only", "get-schema-version", "unix:"+filepath.Join(u.RunDir(), "ovn"+string(db)+"_db.sock"), db.Schema())
		require.NoError(m.t, err)
		assert.Equal(m.t, db.Schema(), x.Name)
		assert.Equal(m.t, "server", x.Source)
		assert.Equal(m.t, *s.Cluster, x.Cluster)
		assert.Equal(m.t, server, x.Server)
		assert.Equal(m.t, s.Term, x.Term)
		assert.NotZero(m.t, x.Index)
		assert.LessOrEqual(m.t, x.Index, s.Log.End)
		assert.Equal(m.t, strings.TrimSpace(schema), x.Schema)
	}
}

// A backup that was taken under a load is restored into another application, which has
// nothing but its units: all of them serve it, in clusters of their own, and the one that it
// was taken of notices nothing.
func TestBackupIsRestoredIntoAnotherApplicationThatIsEmpty(t *testing.T) {
	m := deploy(t, 3)
	w := m.StartWriter(t.Context(), 0)
	m.eventually("writes", func() bool { return w.Acknowledged(lab.NB) > 5 && w.Acknowledged(lab.SB) > 5 })
	dir := m.act(m.units[1], "backup")["backup"]
	rows := written.FindAllString(m.switches(dir), -1)
	require.NotEmpty(t, rows)
	m.addSwitch("after")
	m.verified(w)
	taken, err := m.status(m.units[1], lab.NB)
	require.NoError(t, err)
	moved := filepath.Join(t.TempDir(), "moved")
	_, err = m.Exec(t.Context(), "cp", "-r", dir, moved)
	require.NoError(t, err)

	other := furnish(t, 3, lab.Options{ElectionTimer: time.Second})
	u := other.units[2]
	require.Empty(t, strings.TrimSpace(other.seen(u)))
	empty, err := other.status(u, lab.NB)
	require.NoError(t, err)
	shown := other.act(u, "restore", "from="+moved, "i-really-mean-it=true")
	assert.Contains(t, shown["plan"], "the backup was taken on "+m.units[1].Name())
	other.tick("all serve the backup", func() bool {
		return allMembers(other, other.units...)() && strings.Contains(other.seen(u), rows[0])
	}, other.units...)
	restored, err := other.status(u, lab.NB)
	require.NoError(t, err)
	assert.NotEqual(t, *empty.Cluster, *restored.Cluster)
	assert.NotEqual(t, *taken.Cluster, *restored.Cluster)
	for _, u := range other.units {
		serves := other.seen(u)
		for _, row := range rows {
			assert.Contains(t, serves, row, u.Name())
		}
		assert.NotContains(t, serves, "after")
		assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
	}
	other.requireProof(other.act(u, "restore", "from="+moved, "i-really-mean-it=true"), other.units...)
	other.requireWritable()

	require.True(t, allMembers(m, m.units...)())
	for _, u := range m.units {
		now, err := m.status(u, lab.NB)
		require.NoError(t, err)
		assert.Equal(t, *taken.Cluster, *now.Cluster)
		assert.Contains(t, m.seen(u), "after")
	}
}

// switches are those in a backup's copy.
func (m *model) switches(dir string) string {
	m.t.Helper()
	_, err := m.Exec(m.t.Context(), "gzip", "-dkf", filepath.Join(dir, "ovnnb_db.db.gz"))
	require.NoError(m.t, err)
	out, err := m.Exec(m.t.Context(), "ovsdb-tool", "query", filepath.Join(dir, "ovnnb_db.db"),
		`["OVN_Northbound",{"op":"select","table":"Logical_Switch","where":[],"columns":["name"]}]`)
	require.NoError(m.t, err)
	return out
}

func TestBackupKeepsTheNewestAndWhatIsNotItsOwn(t *testing.T) {
	m := deploy(t, 1)
	u := m.units[0]
	dir := filepath.Join(t.TempDir(), "elsewhere")
	foreign, killed := filepath.Join(dir, "20200101T000000Z"), filepath.Join(dir, ".making-20200101T000000Z")
	require.NoError(t, os.MkdirAll(foreign, 0o700))
	require.NoError(t, os.MkdirAll(killed, 0o700))
	var made []string
	for range 3 {
		m.wait(1100 * time.Millisecond) // they are named to the second
		made = append(made, m.act(u, "backup", "path="+dir, "keep=2")["backup"])
	}
	assert.NoDirExists(t, made[0])
	assert.DirExists(t, made[1])
	assert.DirExists(t, made[2])
	assert.DirExists(t, foreign, "without a manifest it is no backup")
	assert.NoDirExists(t, killed)

	planned := m.act(u, "backup", "path="+dir, "keep=2", "dry-run=true")
	assert.Contains(t, planned["ovnnb"], "from the server of member "+m.id(u, lab.NB)[:4])
	assert.Equal(t, "copy both databases to a new directory in "+dir+"\nload each copy, compress it and read it back\nremove "+made[1]+"\n", planned["plan"])
	assert.NotContains(t, planned, "warnings")
	none := filepath.Join(t.TempDir(), "not", "there")
	assert.NotContains(t, m.act(u, "backup", "path="+none, "dry-run=true")["plan"], "remove")
	assert.NoDirExists(t, filepath.Dir(none))
	assert.DirExists(t, made[1])

	r, err := m.RunAction(t.Context(), u, "backup", "path=relative")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Message, `cannot back up to "relative"`)
}
