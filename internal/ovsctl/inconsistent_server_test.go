//go:build programs

package ovsctl_test

import (
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// ovsdb-server reports entries that are whole and can't be applied, of each kind. It continues to serve with all of
// them, as a healthy member.
func TestServerSaysThatItHasNotAppliedAnEntryUntilItIsStartedAnew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ transaction, said string }{
		"it deletes a row that is not there": {`{"_is_diff":true,"NB_Global":{"11111111-1111-4111-8111-111111111111":null}}`, "ovsdb error: inconsistent data"},
		"of a table that is not there":       {`{"_is_diff":true,"Nothing":{"11111111-1111-4111-8111-111111111111":{"name":"x"}}}`, "ovsdb error: inconsistent data"},
		"of a column that is not there":      {`{"_is_diff":true,"NB_Global":{"11111111-1111-4111-8111-111111111111":{"nothing":"x"}}}`, "ovsdb error: inconsistent data"},
		"none such":                          {`{"_is_diff":true,"Logical_Switch":{"11111111-1111-4111-8111-111111111111":{"name":"x"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)}
			file, err := os.OpenFile(s.Paths.File(ovndb.NB), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			entry := `{"term":1,"index":2,"eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001","data":[null,` + tt.transaction + "]}\n"
			_, err = fmt.Fprintf(file, "OVSDB CLUSTER %d %x\n%s", len(entry), sha1.Sum([]byte(entry)), entry) //nolint:gosec // see above
			require.NoError(t, err)
			require.NoError(t, file.Close())
			s.Start(t).Reaches(t, func(x raft.Status) bool { return x.Role == raft.Leader && x.Committed() >= 2 }, "a leader that has applied all")
			s.says(t, tt.said)

			require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
			// A server of 3.0 or later puts the snapshot together in a thread of its own, and answers before.
			s.Reaches(t, func(x raft.Status) bool { return x.Log.Start > 2 }, "a log without the entry")
			s.Kill(t)
			s.Start(t).Reaches(t, func(x raft.Status) bool { return x.Role == raft.Leader }, "a leader again")
			s.says(t, "")
		})
	}
}

func TestServerThatDoesNotAnswerIsNoServerInGoodOrder(t *testing.T) {
	t.Parallel()
	_, err := (&server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1")}).control().StorageError(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "cannot ask OVN_Northbound's server how its storage is")
}

// says waits until the server reports this state of its storage.
func (s *server) says(t *testing.T, wanted string) {
	t.Helper()
	var said string
	assert.Eventually(t, func() bool {
		var err error
		said, err = ovsctl.Control{Paths: s.Paths}.StorageError(t.Context(), s.Database)
		require.NoError(t, err)
		return said == wanted
	}, 10*time.Second, 5*time.Millisecond)
	assert.Equal(t, wanted, said)
}
