//go:build programs

package membership

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// R0: what a unit finds of its own file all others know, also where its server takes no
// more from it: it is written, and taken back, through another member.
func TestDamageIsPublishedThroughAnotherMember(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	other, u := units[0], units[2]
	other.nbctl("init")
	lost := func() []raft.ID {
		view, err := other.observer.View(t.Context(), other.observer.ObserveServer(t.Context(), ovndb.NB), nil)
		require.NoError(t, err)
		return view.Lost
	}
	local := u.observer.ObserveServer(t.Context(), ovndb.NB)
	require.NoError(t, os.Remove(u.Control.Paths.Socket(ovndb.NB)))
	_, err := u.Global(t.Context(), ovndb.NB, "unix:"+u.Control.Paths.Socket(ovndb.NB))
	require.Error(t, err, "the premise")
	require.NoError(t, u.PublishDamage(t.Context(), local, "record 9 has entry 8"))
	assert.Equal(t, []raft.ID{u.id(ovndb.NB)}, lost())
	require.NoError(t, u.PublishDamage(t.Context(), local, ""), "its file is whole")
	assert.Empty(t, lost())
}
