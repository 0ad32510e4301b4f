package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R10: the entry that adds a member reaches only the leader and the new server, and the leader's machine goes off. The
// others continue without that entry. If the new server was restarted meanwhile, it never asks again to be added, and
// hears no leader. Its unit learns from the others that it is no member, and joins again.
func TestJoin_lost_with_its_leader_is_made_again(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{ElectionTimer: 5 * time.Second})
	leader := m.MakeOneLeader()
	others := m.Followers()
	u := m.AddSilent()
	for _, other := range others {
		require.NoError(t, other.Cut(true))
	}
	require.NoError(t, u.JoinWith(t.Context(), lab.JoinOptions{DB: lab.SB, Remotes: []string{"ssl:" + leader.Address() + ":6644"}}))
	m.Eventually("an entry that adds it", func() bool {
		s, err := m.RaftStatus(u, lab.SB)
		return err == nil && len(s.Servers) == 4
	})
	require.NoError(t, u.Kill(lab.SB))
	lost := m.ShortID(u, lab.SB)
	m.PowerOff(leader)
	for _, other := range others {
		require.NoError(t, other.Cut(false))
	}
	m.Eventually("a leader of the others", func() bool { return m.HasLeader(others[0], lab.SB) })
	labtest.Tool(t, others[0], "ovn-sbctl", lab.SB, "set", "SB_Global", ".", "external_ids:written=1")
	m.PowerOn(leader)
	require.NoError(t, u.Start(t.Context(), lab.SB))
	m.Eventually("a member of its own log without a leader", func() bool {
		s, err := m.RaftStatus(u, lab.SB)
		return err == nil && s.State != raft.JoiningCluster && !s.HasLeader()
	})

	m.Tick("all are members", labtest.AllMembers(m, m.Units()...), m.Units()...)
	assert.NotEqual(t, lost, m.ShortID(u, lab.SB))
	assert.Len(t, m.PutAway(u, lab.SB), 1)
	m.RequireWritable()
}
