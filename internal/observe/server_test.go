package observe_test

import (
	"os"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// A database's state on the unit, and what the unit may publish about it.
func TestObserveServer_conditions_and_identities(t *testing.T) {
	member := relation.Identity{Server: observetest.Full("aa00"), Cluster: observetest.Cluster(ovndb.NB)}
	server, none := relation.Identity{Server: observetest.Full("aa00")}, relation.Identity{}
	is := func(c ovndb.Condition) observetest.Members { return observetest.Members{Condition: c} }
	three := observetest.Three(t).NB
	bb := relation.Identity{Server: observetest.Full("bb00"), Cluster: observetest.Cluster(ovndb.SB)}
	for name, test := range map[string]struct {
		nb        observetest.Members
		left      bool
		condition ovndb.Condition
		identity  relation.Identity
	}{
		"member":     {three, false, ovndb.Serving, member},
		"cut off":    {three.CutOff(), false, ovndb.Serving, member},
		"joining":    {three.In(raft.JoiningCluster), false, ovndb.Serving, member},
		"leaving":    {three.In(raft.LeavingCluster), false, ovndb.Serving, member},
		"absent":     {is(ovndb.Absent), false, ovndb.Absent, none},
		"standalone": {is(ovndb.Standalone), false, ovndb.Standalone, none},
		"left":       {is(ovndb.Left), true, ovndb.Left, none},
		"failed":     {is(ovndb.Failed), false, ovndb.Failed, server},
		"down":       {is(ovndb.Down), false, ovndb.Down, server},
		"down, left": {is(ovndb.Down), true, ovndb.Left, none},
		"denied":     {is(ovndb.Hung), false, ovndb.Unreadable, server},
	} {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			s.NB = test.nb
			m := &observetest.Machine{Left: test.left}
			observer := s.ObserverOn(m)
			if name == "denied" {
				m.Errors[ovndb.NB] = "(Permission denied)"
			}
			servers := observer.ObserveServers(t.Context())
			assert.Equal(t, test.condition, servers[ovndb.NB].Condition, "%v", servers[ovndb.NB].Err)
			assert.NotEmpty(t, servers[ovndb.NB].Text())
			own := observer.Identities(t.Context(), servers)
			assert.Equal(t, test.identity, own[ovndb.NB])
			assert.Equal(t, bb, own[ovndb.SB], "the other is not hidden")
		})
	}
}

func TestObserveServer_status_of_other_database_is_ignored(t *testing.T) {
	s := observetest.Three(t)
	m := new(observetest.Machine)
	observer := s.ObserverOn(m)
	m.Answers[ovndb.NB] = m.Answers[ovndb.SB]
	l := observer.ObserveServer(t.Context(), ovndb.NB)
	assert.Equal(t, ovndb.Unreadable, l.Condition)
	assert.ErrorContains(t, l.Err, `it is of "OVN_Southbound"`)
	assert.False(t, l.Member())
}

// After a machine boots, systemd starts the servers, and Juju a hook.
func TestObserveServer_without_socket_is_starting(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Members{Condition: ovndb.Down}
	l := s.ObserverOn(&observetest.Machine{Starting: true}).ObserveServer(t.Context(), ovndb.NB)
	assert.Equal(t, ovndb.Unreadable, l.Condition, "it may vote before it can be asked")
	assert.True(t, l.Starting)
	assert.ErrorContains(t, l.Err, "process 4711 of service ovn-ovsdb-server-nb runs")
}

// S5: the reason why the server does not start is reported, except from a note about another cluster's file.
func TestObserveServer_refused_by_start_guard(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Members{Condition: ovndb.Down}
	observer := s.ObserverOn(new(observetest.Machine))
	for cluster, said := range map[string]string{
		"": "the server is not running: given up", string(observetest.Cluster(ovndb.SB)): "the server is not running",
	} {
		note := `{"cluster": "` + cluster + `", "reason": "given up"}`
		require.NoError(t, os.WriteFile(observer.Control.Paths.StartRefusal(ovndb.NB), []byte(note), 0o600))
		assert.Equal(t, said, observer.ObserveServer(t.Context(), ovndb.NB).Text(), note)
	}
}
