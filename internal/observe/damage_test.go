package observe_test

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A server continues to write to a file that was deleted or moved away, and no status shows it. No server could be
// started with these entries.
func TestMissingEntries_file_is_gone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scenario func(s *observetest.Scenario)
		// ends: the server ends during the observation, since its unit moves its file away.
		ends bool
		want string
	}{
		"a member":      {func(*observetest.Scenario) {}, false, " is gone"},
		"ending_server": {func(*observetest.Scenario) {}, true, ""},
		"joining_server": {
			func(s *observetest.Scenario) { s.NB = s.NB.In(raft.JoiningCluster) }, false, "",
		},
		"leaving_server": {
			func(s *observetest.Scenario) { s.NB = s.NB.In(raft.LeavingCluster) }, false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := observetest.Three(t), new(observetest.Machine)
			test.scenario(&s)
			observer := s.ObserverOn(m)
			l := observer.ObserveServer(t.Context(), ovndb.NB)
			require.Equal(t, ovndb.Serving, l.Condition, "the premise")
			path := observer.Files.Paths.File(ovndb.NB)
			require.NoError(t, os.Remove(path))
			if test.ends {
				m.Errors[ovndb.NB] = `ovs-appctl: cannot connect to "ovnnb_db.ctl" (Connection refused)`
			}
			synctest.Test(t, func(t *testing.T) {
				missing, err := observer.MissingEntries(t.Context(), l)
				require.NoError(t, err)
				if test.want != "" {
					test.want = path + test.want
				}
				assert.Equal(t, test.want, missing)
			})
		})
	}
}
