//go:build programs

package membership

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// R0: all others know what a unit finds in its own file, even if its server accepts no writes any more: another
// member writes it, and takes it back.
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

	// R17: what is there is not written again.
	before := other.noted()
	require.NoError(t, u.PublishDamage(t.Context(), local, "record 9 has entry 8, still"))
	assert.Equal(t, before, other.noted())

	// Whatever was looked at before: the word stays while the file can't be loaded.
	whole := u.Files
	u.Files.Paths.DB = t.TempDir()
	text, err := os.ReadFile(whole.Paths.File(ovndb.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(u.Files.Paths.File(ovndb.NB), withoutAnEntry(t, text), 0o600))
	require.NoError(t, u.PublishDamage(t.Context(), local, ""))
	assert.Equal(t, before, other.noted())
	u.Files = whole
	require.NoError(t, u.PublishDamage(t.Context(), local, ""), "its file is whole")
	assert.Empty(t, lost())
}

// noted returns what the database records about all units.
func (u *realUnit) noted() map[string]string {
	u.t.Helper()
	global, err := u.Global(u.t.Context(), ovndb.NB, "unix:"+u.Control.Paths.Socket(ovndb.NB))
	require.NoError(u.t, err)
	defer global.Close()
	ids, err := global.Read(u.t.Context())
	require.NoError(u.t, err)
	return ids
}

// withoutAnEntry takes an entry that others follow out of a database's file, as a write that
// failed does.
func withoutAnEntry(t *testing.T, text []byte) []byte {
	t.Helper()
	const mark = "OVSDB CLUSTER "
	records := strings.Split(string(text), mark)
	var entries []int
	for i, r := range records {
		if strings.Contains(r, `"index":`) {
			entries = append(entries, i)
		}
	}
	require.Greater(t, len(entries), 2)
	return []byte(strings.Join(slices.Delete(records, entries[1], entries[1]+1), mark))
}
