package membership

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R1, R10: a server that becomes a member just as `stop` stops its service leaves as any member does.
func TestStop_server_that_joins_meanwhile_leaves(t *testing.T) {
	m := labtest.Deploy(t, 1)
	other := m.Deployed[0]
	u := m.AddSilent()
	clusters := map[lab.DB]string{}
	for _, db := range lab.Databases {
		s := m.Raft(other, db)
		clusters[db] = string(s.Cluster)
		require.NoError(t, other.Hang(db))
	}
	for _, db := range lab.Databases {
		require.NoError(t, u.JoinWith(t.Context(), lab.JoinOptions{
			DB: db, ClusterID: clusters[db], Remotes: []string{"ssl:" + other.Address() + map[lab.DB]string{lab.NB: ":6643", lab.SB: ":6644"}[db]},
		}))
	}
	require.NoError(t, m.Destroy(u))
	var once sync.Once
	u.OnCall(func(call string) {
		if !strings.Contains(call, "systemctl stop ") {
			return
		}
		once.Do(func() {
			for _, db := range lab.Databases {
				assert.NoError(t, other.Resume(db))
				m.Eventually("a member", func() bool {
					s, err := m.RaftStatus(u, db)
					return err == nil && s.State == raft.ClusterMember
				})
			}
		})
	})
	m.HookFailed(m.RunHook(t.Context(), u, "stop"), "stop") // it has joined meanwhile
	u.OnCall(nil)
	m.Eventually("its end", func() bool { return m.RunHook(t.Context(), u, "stop") == nil })
	m.RequireMembers(other)
	m.RequireWritable()
	m.RequirePutAway(u)
}
