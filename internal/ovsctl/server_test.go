//go:build programs

package ovsctl_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// patience bounds every wait for a server: an election takes about two election
// timers of 1 s, on a busy machine more.
const patience = time.Minute

// server is a real ovsdb-server, and how the charm asks it.
type server struct{ *ovsdbtest.Server }

func schema(d ovndb.Database) string { return ovndb.Paths{}.Schema(d) }

func (s *server) control() ovsctl.Control { return ovsctl.Control{Runner: run.Exec{}, Paths: s.Paths} }

func (s *server) files() ovsctl.Files { return ovsctl.Files{Runner: run.Exec{}, Paths: s.Paths} }

// joined checks whether the server is a member by its file.
func (s *server) joined(t *testing.T, wanted bool) {
	t.Helper()
	member, err := s.files().Joined(t.Context(), s.Database)
	require.NoError(t, err)
	require.Equal(t, wanted, member)
}

// gone waits until the server serves its database no more.
func (s *server) gone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := s.control().Status(t.Context(), s.Database)
		return err != nil && strings.Contains(err.Error(), ovsctl.ErrUnknownCluster.Error())
	}, patience, 20*time.Millisecond, "the server does not go")
}

// cluster starts n members of one cluster; the first leads it.
func cluster(t testing.TB, d ovndb.Database, n int) []*server {
	t.Helper()
	return all(ovsdbtest.Cluster(t, d, n))
}

func all(members []*ovsdbtest.Server) (servers []*server) {
	for _, s := range members {
		servers = append(servers, &server{s})
	}
	return servers
}

func tool(t testing.TB, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := run.Exec{}.Run(ctx, run.Command{Name: "ovsdb-tool", Args: args})
	require.NoError(t, err)
}
