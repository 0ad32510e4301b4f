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
	tests := map[string]struct {
		scenario  func(s *observetest.Scenario)
		machine   *observetest.Machine
		condition ovndb.Condition
		identity  relation.Identity
	}{
		"member":     {func(*observetest.Scenario) {}, new(observetest.Machine), ovndb.Serving, member},
		"cut off":    {func(s *observetest.Scenario) { s.NB = s.NB.CutOff() }, new(observetest.Machine), ovndb.Serving, member},
		"joins":      {func(s *observetest.Scenario) { s.NB = s.NB.In(raft.JoiningCluster) }, new(observetest.Machine), ovndb.Serving, member},
		"leaves":     {func(s *observetest.Scenario) { s.NB = s.NB.In(raft.LeavingCluster) }, new(observetest.Machine), ovndb.Serving, member},
		"absent":     {func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Absent} }, new(observetest.Machine), ovndb.Absent, relation.Identity{}},
		"standalone": {func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Standalone} }, new(observetest.Machine), ovndb.Standalone, relation.Identity{}},
		"left":       {func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Left} }, &observetest.Machine{Left: true}, ovndb.Left, relation.Identity{}},
		"failed":     {func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Failed} }, new(observetest.Machine), ovndb.Failed, relation.Identity{Server: observetest.Full("aa00")}},
		"down":       {func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Down} }, new(observetest.Machine), ovndb.Down, relation.Identity{Server: observetest.Full("aa00")}},
		"down, and left before": {
			func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Down} }, &observetest.Machine{Left: true}, ovndb.Left, relation.Identity{},
		},
		"denied": {
			func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Hung} },
			&observetest.Machine{Errors: map[ovndb.Database]string{ovndb.NB: "(Permission denied)"}}, ovndb.Unreadable,
			relation.Identity{Server: observetest.Full("aa00")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			test.scenario(&s)
			m := test.machine
			denied := m.Errors[ovndb.NB]
			observer := s.ObserverOn(m)
			if denied != "" {
				m.Errors[ovndb.NB] = denied
			}
			servers := observer.ObserveServers(t.Context())
			assert.Equal(t, test.condition, servers[ovndb.NB].Condition, "%v", servers[ovndb.NB].Err)
			assert.NotEmpty(t, servers[ovndb.NB].Text())
			own := observer.Identities(t.Context(), servers)
			assert.Equal(t, test.identity, own[ovndb.NB])
			assert.Equal(t, relation.Identity{Server: observetest.Full("bb00"), Cluster: observetest.Cluster(ovndb.SB)}, own[ovndb.SB], "the other is not hidden")
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
