package recovery

import (
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"encoding/json"
	"fmt"
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

// globals are the table of each database that has one row, and the program that asks.
var globals = map[lab.DB][2]string{lab.NB: {"ovn-nbctl", "NB_Global"}, lab.SB: {"ovn-sbctl", "SB_Global"}}

// §4 of the worst night: an entry of the log that is whole and can't be applied. The server leaves it out and
// continues, as a follower and as the leader; its unit reports that, and still does when nothing
// else shows it any more.
func TestUnitWhoseDataDifferRejoinsByOneAction(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	others, u := m.Deployed[:2], m.Deployed[2]
	for db, global := range globals {
		m.MakeLeader(others[0], db)
		_, err := others[0].Exec(t.Context(), global[0], "--timeout=30", "--db="+m.Remotes(db), "set", global[1], ".", "external_ids:left-out=no")
		require.NoError(t, err)
	}
	// asked is a client of this unit's own server alone.
	asked := func(db lab.DB, timeout string, command ...string) (string, error) {
		own := []string{"--timeout=" + timeout, "--no-leader-only", "--db=unix:" + filepath.Join(u.RunDir(), "ovn"+string(db)+"_db.sock")}
		return u.Exec(t.Context(), globals[db][0], append(own, command...)...)
	}
	has := func(db lab.DB) bool {
		said, err := asked(db, "30", "get", globals[db][1], ".", "external_ids")
		require.NoError(t, err)
		return strings.Contains(said, "left-out")
	}
	storage := func(db lab.DB) string {
		said, err := u.Appctl(t.Context(), db, "ovsdb-server/get-db-storage-status", db.Schema())
		require.NoError(t, err)
		return said
	}
	m.Eventually("this unit's servers have the entries", func() bool { return has(lab.NB) && has(lab.SB) })
	m.PowerOff(u)
	for _, db := range lab.Databases {
		makeInapplicable(t, u.DBFile(db), "left-out")
	}
	boot := func() {
		require.NoError(t, u.PowerOn(t.Context()))
		require.NoError(t, m.Settle(t.Context()))
		m.Tick("its servers are members", func() bool {
			for _, db := range lab.Databases {
				if s, err := m.RaftStatus(u, db); err != nil || !s.HasLeader() {
					return false
				}
			}
			return true
		}, u)
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	}
	boot()

	// For all others it is a member in good order.
	ids := map[lab.DB]string{}
	for _, db := range lab.Databases {
		ids[db] = m.ServerID(u, db)
		require.False(t, has(db), "%s: its data differ", db)
		require.Contains(t, storage(db), "inconsistent data")
	}
	require.NoError(t, m.RunHook(t.Context(), others[0], "update-status"))
	assert.Equal(t, "active", others[0].Workload().Status, others[0].Workload().Message)
	differs := func(db lab.DB) {
		t.Helper()
		assert.Equal(t, "blocked", u.Workload().Status)
		m.Finds(u, finding.DataDiffer, string(db))
		assert.Contains(t, m.NextCommands(u), "juju run "+u.Name()+" rejoin database="+string(db)+" i-really-mean-it=true")
	}
	differs(lab.NB)
	differs(lab.SB)

	// Once the file was compacted and the server restarted, the server no longer reports it.
	_, err := u.Appctl(t.Context(), lab.NB, "ovsdb-server/compact", lab.NB.Schema())
	require.NoError(t, err)
	m.PowerOff(u)
	boot()
	require.Contains(t, storage(lab.NB), "status: ok")
	require.False(t, has(lab.NB), "and its data are as they were")
	differs(lab.NB)

	// It leads one of the databases: no other unit may wait for it to remove itself.
	m.MakeLeader(u, lab.SB)
	_, err = asked(lab.SB, "5", "set", "SB_Global", ".", "external_ids:refused=yes")
	require.Error(t, err, "as the last entry is the one that it left out, it answers no client; after a later one it refuses what they write")

	assert.True(t, m.RefusedRecovery(u, "rejoin").Has(finding.Unconfirmed, ""))
	plan := m.Act(u, "rejoin", "dry-run=true")["plan"]
	assert.Contains(t, plan, "nb: the unit that leads it removes member "+ids[lab.NB][:4])
	assert.Contains(t, plan, "sb: the first of the other units removes member "+ids[lab.SB][:4])
	put := m.PutAway(u)
	assert.Empty(t, put)
	for _, db := range lab.Databases { // as the status prints them
		m.Act(u, "rejoin", "database="+string(db), "i-really-mean-it=true")
	}
	m.Tick("it has joined again", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	put, live := m.PutAway(u), m.InPlace(u)
	assert.Len(t, put, 2)
	assert.Len(t, live, 2)
	for _, db := range lab.Databases {
		assert.NotEqual(t, ids[db], m.ServerID(u, db), "a new member")
		assert.True(t, has(db), "%s: with the cluster's data", db)
	}
	shown := m.Act(u, "rejoin", "i-really-mean-it=true")
	for _, db := range lab.Databases {
		assert.Contains(t, shown["plan"], string(db)+": this unit has joined as a new member in the place of "+ids[db][:4])
		for _, unit := range m.Deployed {
			assert.Contains(t, shown["proof"], string(db)+": "+unit.Name()+" is a member, and an acknowledged write was read back from its server")
		}
	}
	assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
	r, err := m.RunAction(t.Context(), u, "rejoin", "i-really-mean-it=true")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status, "it is proved")
	m.RequireWritable()
}

// makeInapplicable has the last entry that has a word in it, of a database's file, delete a row that is
// not there, as one does that comes after data which were wrong already.
func makeInapplicable(t *testing.T, path, word string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	const mark = "OVSDB CLUSTER "
	records := strings.Split(string(text), mark)
	at := -1
	for i, record := range records {
		if strings.Contains(record, word) && strings.Contains(record, `"index":`) {
			at = i
		}
	}
	require.NotEqual(t, -1, at)
	_, body, _ := strings.Cut(records[at], "\n")
	entry := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(body), &entry))
	table := map[bool]string{true: "NB_Global", false: "SB_Global"}[strings.Contains(body, "NB_Global")]
	entry["data"] = json.RawMessage(`[null,{"_date":1,"_is_diff":true,"` + table + `":{"11111111-1111-4111-8111-111111111111":null}}]`)
	written, err := json.Marshal(entry)
	require.NoError(t, err)
	written = append(written, '\n')
	records[at] = fmt.Sprintf("%d %x\n%s", len(written), sha1.Sum(written), written) //nolint:gosec // see above
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(records, mark)), 0o600))
}
