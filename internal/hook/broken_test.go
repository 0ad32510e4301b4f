package hook_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

const broken = "ovsdb-peer-relation-broken"

func TestPeerBroken_staying_unit_does_nothing(t *testing.T) {
	m := healthy()
	require.NoError(t, m.run(t, broken))
	assert.Empty(t, m.told)
	assert.Empty(t, m.status)
}

// R9: Juju 4 doesn't wait for `stop` after this hook, but for this hook.
func TestR9_peer_broken_waits_until_unit_may_leave(t *testing.T) {
	m := healthy()
	m.goal, m.fixtures[ovndb.NB] = dying, "nb-leader-one-of-three-dead"
	err := m.run(t, broken)
	assert.Equal(t, []string{"nb QUORUM_WOULD_BE_LOST"}, findingtest.Codes(err))
	assert.Contains(t, findingtest.Briefs(err), "IF_HOOK_SKIPPED")
	assert.Contains(t, m.status, "blocked ovn-central/0 waits to leave")
	assert.Empty(t, m.told)
}

// R9: if the state is unknown, the unit may not leave, and nothing that may stay is stopped.
func TestR9_peer_broken_fails_if_Juju_is_silent(t *testing.T) {
	m := healthy()
	m.goal, m.broken = dying, []string{"goal-state"}
	require.ErrorContains(t, m.run(t, broken), "cannot find out whether this unit is being removed")
	assert.Empty(t, m.told)
}

func TestStop_after_peer_broken_does_nothing(t *testing.T) {
	m := &machine{left: true, goal: dying}
	require.NoError(t, m.run(t, broken))
	assert.Equal(t, stopped, m.told)
	m.told = nil
	require.NoError(t, m.run(t, "stop"))
	assert.Equal(t, stopped, m.told, "nothing is started, and nothing else done")
}

// R9: if the whole application is removed, the data stays.
func TestR9_peer_broken_whole_application_keeps_data(t *testing.T) {
	m := healthy()
	m.goal = `{"units":{"ovn-central/0":{"status":"dying"},"ovn-central/1":{"status":"dying"}}}`
	require.NoError(t, m.run(t, broken))
	assert.Equal(t, stopped, m.told)
	assert.Contains(t, m.log.String(), "no unit stays that could serve the database")
}
