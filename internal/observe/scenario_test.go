package observe_test

import (
	"os"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestScenario_matches_observer(t *testing.T) {
	s := observetest.Three(t)
	s.SB = observetest.Up("bb00", "bb01").Down("bb02") // a leader need not ask another
	report, observer := s.Report(), s.Observer()
	observer.Files.Paths = ovndb.Paths{Run: t.TempDir(), DB: t.TempDir()}
	servers := map[ovndb.Database]observe.ServerState{}
	for _, c := range report.Clusters {
		servers[c.Database] = c.ServerState
		file := observetest.FileUpTo(c.Status.Log.End-1, c.Database, c.Status.Server, *c.Status.Cluster, nil)
		require.NoError(t, os.WriteFile(observer.Files.Paths.File(c.Database), file, 0o600))
	}
	found := observer.Report(t.Context(), s.Application(), servers)
	require.Len(t, found.Clusters, 2)
	for i, c := range found.Clusters {
		require.Equal(t, report.Clusters[i].Rows, c.Rows)
		require.Equal(t, report.Clusters[i].Quorum, c.Quorum)
	}
}
