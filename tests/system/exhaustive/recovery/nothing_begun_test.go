package recovery

import (
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

// R15 alone: a quorum is lost, a member's file is damaged, and hooks of every kind run on those that are left, again and
// again. Nothing is begun that an operator begins: the servers, their clusters, files and data on the relations stay what
// they are, and once the machines are back all is as before, without a word.
func TestR15LostQuorumStaysLostWhateverHooksRun(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	m.AddSwitch("kept")
	left, lost := m.Deployed[:2], m.Deployed[2:]
	clusters, servers := map[lab.DB]string{}, map[string]string{}
	for _, db := range lab.Databases {
		s := m.Raft(m.Deployed[0], db)
		clusters[db] = string(*s.Cluster)
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
				s, err := m.RaftStatus(u, db)
				require.NoError(t, err, when)
				assert.False(t, s.HasLeader(), when)
				assert.Equal(t, clusters[db], string(*s.Cluster), when)
				assert.Len(t, s.Servers, 4, "%s: no member is removed", when)
				id, err := u.ServerID(t.Context(), db)
				require.NoError(t, err)
				assert.Equal(t, servers[u.Name()+string(db)], id, when)
			}
			put, live := m.PutAway(u), m.InPlace(u)
			assert.Empty(t, put, "%s: nothing is put away", when)
			assert.Len(t, live, 2, "%s: nothing is made beside it", when)
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
	assert.Equal(t, []string{"juju run " + left[0].Name() + " recover dry-run=true"}, m.NextCommands(left[0]), "an operator is told what to run")
	m.Finds(damaged, finding.FileUnreadable, "nb")

	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	require.NoError(t, m.Settle(t.Context()))
	rest := slices.Concat(left[:1], lost)
	m.Tick("the quorum returns by itself", func() bool {
		for _, u := range rest {
			for _, db := range lab.Databases {
				if s, err := m.RaftStatus(u, db); err != nil || !s.HasLeader() {
					return false
				}
			}
		}
		return true
	}, m.Deployed...)
	for _, u := range rest {
		for _, db := range lab.Databases {
			s := m.Raft(u, db)
			assert.Equal(t, clusters[db], string(*s.Cluster))
			assert.Len(t, s.Servers, 4, "the one whose file is damaged is still a member: an operator kicks it, or has it rejoin")
		}
		assert.Contains(t, m.Seen(u), "kept")
	}
	put := m.PutAway(damaged)
	assert.Empty(t, put)
}
