package observe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// FuzzExternalIDs reads a key and a value that any client of a database may have written (R18): invalid IDs are
// ignored, and texts are clean.
func FuzzExternalIDs(f *testing.F) {
	const id = "57f8a1b2-0000-4000-8000-000000000001"
	for _, key := range []string{
		DamagedPrefix, DamagedPrefix + "5", DamagedPrefix + id, RemovedPrefix, RemovedPrefix + "\x1b[2J", RemovedPrefix + id,
		SupersededKey, ClustersKey(ovndb.NB), LockKey,
	} {
		for _, value := range []string{
			"", id, id + " " + id, "\x1b[2Ja\r\nnext: juju remove-unit ovn-central/0",
			`{"holder":"\n","noted":[{"id":"\u0000","kind":"leave"}]}`,
		} {
			f.Add(key, value)
		}
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		ids := map[string]string{key: value}
		full := func(id raft.ID) {
			_, ok := raft.ParseID(string(id))
			require.True(t, ok, "%q", id)
		}
		for _, id := range DamagedServers(ids) {
			full(id)
		}
		for id, record := range RemovedServers(ids) {
			full(id)
			require.Equal(t, foreign.Reason(record), record)
		}
		for _, answers := range SupersededAnswers("10.0.0.1", ovndb.SB, "", ids) {
			for _, a := range answers {
				for _, id := range a.Supersedes {
					full(id)
				}
			}
		}
		for _, id := range leavingServers(ids) {
			require.True(t, foreign.IsName(string(id)))
		}
	})
}
