package membership_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// What a unit finds of a database, and what it may publish of it.
func TestConditionsAndIdentities(t *testing.T) {
	member := relation.Identity{Server: full("aa00"), Cluster: cluster(ovndb.NB)}
	tests := map[string]struct {
		scene     func(s *scene)
		machine   *machine
		condition ovndb.Condition
		identity  relation.Identity
	}{
		"member":     {func(*scene) {}, new(machine), ovndb.Serving, member},
		"cut off":    {func(s *scene) { s.nb = s.nb.cutOff() }, new(machine), ovndb.Serving, member},
		"joins":      {func(s *scene) { s.nb = s.nb.in(raft.JoiningCluster) }, new(machine), ovndb.Serving, member},
		"leaves":     {func(s *scene) { s.nb = s.nb.in(raft.LeavingCluster) }, new(machine), ovndb.Serving, member},
		"absent":     {func(s *scene) { s.nb = members{condition: ovndb.Absent} }, new(machine), ovndb.Absent, relation.Identity{}},
		"standalone": {func(s *scene) { s.nb = members{condition: ovndb.Standalone} }, new(machine), ovndb.Standalone, relation.Identity{}},
		"left":       {func(s *scene) { s.nb = members{condition: ovndb.Left} }, &machine{left: true}, ovndb.Left, relation.Identity{}},
		"failed":     {func(s *scene) { s.nb = members{condition: ovndb.Failed} }, new(machine), ovndb.Failed, relation.Identity{Server: full("aa00")}},
		"down":       {func(s *scene) { s.nb = members{condition: ovndb.Down} }, new(machine), ovndb.Down, relation.Identity{Server: full("aa00")}},
		"down, and left before": {
			func(s *scene) { s.nb = members{condition: ovndb.Down} }, &machine{left: true}, ovndb.Left, relation.Identity{},
		},
		"denied": {
			func(s *scene) { s.nb = members{condition: ovndb.Hung} },
			&machine{errors: map[ovndb.Database]string{ovndb.NB: "(Permission denied)"}}, ovndb.Unreadable,
			relation.Identity{Server: full("aa00")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := three(t)
			test.scene(&s)
			m := test.machine
			denied := m.errors[ovndb.NB]
			observer := s.observerOn(m)
			if denied != "" {
				m.errors[ovndb.NB] = denied
			}
			servers := observer.ObserveServers(t.Context())
			assert.Equal(t, test.condition, servers[ovndb.NB].Condition, "%v", servers[ovndb.NB].Err)
			assert.NotEmpty(t, servers[ovndb.NB].Text())
			own := observer.Identities(t.Context(), servers)
			assert.Equal(t, test.identity, own[ovndb.NB])
			assert.Equal(t, relation.Identity{Server: full("bb00"), Cluster: cluster(ovndb.SB)}, own[ovndb.SB], "the other is not hidden")
		})
	}
}

func TestStatusOfTheOtherDatabaseIsNotBelieved(t *testing.T) {
	s := three(t)
	m := new(machine)
	observer := s.observerOn(m)
	m.answers[ovndb.NB] = m.answers[ovndb.SB]
	l := observer.ObserveServer(t.Context(), ovndb.NB)
	assert.Equal(t, ovndb.Unreadable, l.Condition)
	assert.ErrorContains(t, l.Err, `it is of "OVN_Southbound"`)
	assert.False(t, l.Member())
}
