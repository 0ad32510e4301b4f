package recovery

import (
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

var globals = map[lab.DB][2]string{lab.NB: {"ovn-nbctl", "NB_Global"}, lab.SB: {"ovn-sbctl", "SB_Global"}}

// §4 of the worst night: a complete log entry can't be applied. The server skips it and continues, even as the
// leader. Its unit reports that, even when nothing else shows it any more.
func TestRejoin_unit_with_other_data_by_one_action(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	others, u := m.Deployed[:2], m.Deployed[2]
	for db, global := range globals {
		m.MakeLeader(others[0], db)
		labtest.Output(t, others[0], global[0], "--timeout=30", "--db="+m.Remotes(db), "set", global[1], ".",
			"external_ids:left-out=no")
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
		m.Tick("its servers are members", func() bool { return m.IsMember(u) }, u)
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	}
	boot()

	// To all others it is a healthy member.
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
	require.Error(t, err, "it lacks the last entry, so it answers no client; after a later entry it refuses their writes")

	assert.True(t, m.RefusedRecovery(u, "rejoin").Has(finding.Unconfirmed, ""))
	plan := m.Act(u, "rejoin", "dry-run=true")["plan"]
	assert.Contains(t, plan, "nb: "+labtest.Stated(finding.LeaderRemoves, ids[lab.NB][:4]))
	assert.Contains(t, plan, "sb: "+labtest.Stated(finding.OthersRemove, ids[lab.SB][:4]))
	assert.Empty(t, m.PutAway(u))
	for _, db := range lab.Databases { // as the status prints them
		m.Act(u, "rejoin", "database="+string(db), "i-really-mean-it=true")
	}
	m.Tick("it has joined again", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	assert.Len(t, m.PutAway(u), 2)
	assert.Len(t, m.InPlace(u), 2)
	for _, db := range lab.Databases {
		assert.NotEqual(t, ids[db], m.ServerID(u, db), "a new member")
		assert.True(t, has(db), "%s: with the cluster's data", db)
	}
	shown := m.Act(u, "rejoin", "i-really-mean-it=true")
	for _, db := range lab.Databases {
		assert.Contains(t, shown["plan"], string(db)+": "+labtest.Stated(finding.JoinedAnew, ids[db][:4]))
		for _, unit := range m.Deployed {
			assert.Contains(t, shown["proof"], labtest.Proved(db, unit))
		}
	}
	assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
	r, err := m.RunAction(t.Context(), u, "rejoin", "i-really-mean-it=true")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status, "it is proved")
	m.RequireWritable()
}

// makeInapplicable makes the last entry with a word delete a row that does not exist, as after corruption.
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

// R15: a quorum is lost, a member's file is damaged, and hooks of every kind run repeatedly on the remaining units.
// They begin no recovery: servers, clusters, files and relation data stay the same, and once the machines are back
// everything works again.
func TestR15_lost_quorum_stays_lost_whatever_hooks_run(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	m.AddSwitch("kept")
	left, lost := m.Deployed[:2], m.Deployed[2:]
	clusters, servers := map[lab.DB]string{}, map[string]string{}
	for _, db := range lab.Databases {
		s := m.Raft(m.Deployed[0], db)
		clusters[db] = string(s.Cluster)
		for _, u := range m.Deployed {
			servers[u.Name()+string(db)] = m.ServerID(u, db)
		}
	}
	claimed := maps.Clone(m.LeaderSettings())
	m.Lose(lost...)
	damaged := left[1]
	m.KillServers(damaged)
	whole, err := os.ReadFile(damaged.DBFile(lab.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(damaged.DBFile(lab.NB), append([]byte("#!"), whole[2:]...), 0o600))

	unchanged := func(when string) {
		t.Helper()
		for _, u := range left {
			for _, db := range lab.Databases {
				if u == damaged && db == lab.NB {
					assert.False(t, u.Running(db), when)
					continue
				}
				s := m.Raft(u, db)
				assert.False(t, s.HasLeader(), when)
				assert.Equal(t, clusters[db], string(s.Cluster), when)
				assert.Len(t, s.Servers, 4, "%s: no member is removed", when)
				assert.Equal(t, servers[u.Name()+string(db)], m.ServerID(u, db), when)
			}
			assert.Empty(t, m.PutAway(u), "%s: nothing is put away", when)
			assert.Len(t, m.InPlace(u), 2, "%s: nothing is made beside it", when)
			assert.NoDirExists(t, filepath.Join(filepath.Dir(u.DBDir()), "backups"), when)
			for key, value := range u.Data() {
				asks := strings.HasSuffix(key, "-rejoin") || strings.HasSuffix(key, "-recovery")
				assert.False(t, asks && value != "", "%s: %s publishes %s=%s", when, u.Name(), key, value)
			}
		}
		assert.Equal(t, claimed, m.LeaderSettings(), "%s: the application's clusters", when)
	}
	hooks := []string{"update-status", "ovsdb-peer-relation-departed"} // and leader-elected
	if exploretest.Factor(t) > 1 {
		hooks = append(hooks, "config-changed", "leader-elected", "upgrade-charm", "start", "leader-settings-changed",
			"ovsdb-peer-relation-changed", "ovsdb-peer-relation-joined", "certificates-relation-changed")
	}
	for i, hook := range hooks {
		if half := len(hooks) / 2; i%half == 0 { // each of them leads the application while half of the hooks run
			require.NoError(t, m.SetLeader(t.Context(), left[1-i/half]))
		}
		for _, u := range left {
			var of []string
			if strings.HasPrefix(hook, "ovsdb-peer") {
				of = []string{"JUJU_REMOTE_UNIT=" + lost[0].Name()}
			}
			require.NoError(t, m.RunHook(t.Context(), u, hook, of...))
		}
		require.NoError(t, m.Settle(t.Context()))
		unchanged(hook)
	}
	assert.Equal(t, "blocked", left[0].Workload().Status, left[0].Workload().Message)
	m.Finds(left[0], finding.NoQuorum, "")
	assert.Equal(t, []string{"juju run " + left[0].Name() + " recover dry-run=true"}, m.NextCommands(left[0]),
		"an operator sees what to run")
	m.Finds(damaged, finding.FileUnreadable, "nb")

	m.PowerOn(lost...)
	require.NoError(t, m.Settle(t.Context()))
	rest := slices.Concat(left[:1], lost)
	m.Tick("the quorum returns by itself", func() bool {
		return !slices.ContainsFunc(rest, func(u *lab.Unit) bool { return !m.IsMember(u) })
	}, m.Deployed...)
	for _, u := range rest {
		for _, db := range lab.Databases {
			s := m.Raft(u, db)
			assert.Equal(t, clusters[db], string(s.Cluster))
			assert.Len(t, s.Servers, 4, "the one whose file is damaged is still a member: an operator kicks it, or has it rejoin")
		}
		assert.Contains(t, m.Seen(u), "kept")
	}
	assert.Empty(t, m.PutAway(damaged))
}
