//go:build programs

package ovsdb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// patience limits every wait for a server: an election takes about two election timers of 1 s, more on a busy machine.
const patience = time.Minute

type server = ovsdbtest.Server

func endpointsOf(s *server) []string { return ovsdb.Endpoints(s.Database, s.Address) }

// listening gives a server options, and endpoints at which it serves clients.
func listening(s *server, options []string, endpoints ...string) *server {
	s.Options = options
	for _, e := range endpoints {
		s.Options = append(s.Options, ovsdbtest.Remote(e))
	}
	return s
}

// cluster starts n members of one cluster, which listen for clients; the first leads it.
func cluster(t *testing.T, d ovndb.Database, n int) []*server {
	t.Helper()
	members := ovsdbtest.Several(t, d, n)
	for _, s := range members {
		listening(s, nil, endpointsOf(s)...)
	}
	return ovsdbtest.Form(t, members...)
}

// command runs a program that must succeed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := run.Exec{}.Run(within(t, patience), run.Command{Name: name, Args: args})
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// tool runs ovn-nbctl or ovn-sbctl on a server, and returns its output.
func tool(t *testing.T, s *server, args ...string) string {
	t.Helper()
	name := map[ovndb.Database]string{ovndb.NB: "ovn-nbctl", ovndb.SB: "ovn-sbctl"}[s.Database]
	return command(t, name, append([]string{"--no-leader-only", "--db=" + s.Endpoint()}, args...)...)
}

// ctl is tool with the words of a line.
func ctl(t *testing.T, s *server, line string) string {
	t.Helper()
	return tool(t, s, strings.Fields(line)...)
}
