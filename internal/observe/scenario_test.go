package observe_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestScenarioIsWhatTheObserverItselfReports(t *testing.T) {
	s := observetest.Three(t)
	s.SB = observetest.Up("bb00", "bb01").Down("bb02") // a leader need not ask another
	report := s.Report()
	servers := map[ovndb.Database]observe.ServerState{}
	for _, c := range report.Clusters {
		servers[c.Database] = c.ServerState
	}
	found := s.Observer().Report(t.Context(), s.Application(), servers)
	require.Len(t, found.Clusters, 2)
	for i, c := range found.Clusters {
		require.Equal(t, report.Clusters[i].Rows, c.Rows)
		require.Equal(t, report.Clusters[i].Quorum, c.Quorum)
	}
}
