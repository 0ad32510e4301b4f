package membership_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// What a unit finds of a database, and what it may publish of it.
func TestConditionsAndIdentities(t *testing.T) {
	member := relation.Identity{Server: full("aa00"), Cluster: cluster(raft.NB)}
	tests := map[string]struct {
		scene     func(s *scene)
		machine   *machine
		condition membership.Condition
		identity  relation.Identity
	}{
		"member":     {func(*scene) {}, new(machine), membership.Serving, member},
		"cut off":    {func(s *scene) { s.nb = s.nb.cutOff() }, new(machine), membership.Serving, member},
		"joins":      {func(s *scene) { s.nb = s.nb.in(raft.JoiningCluster) }, new(machine), membership.Serving, member},
		"leaves":     {func(s *scene) { s.nb = s.nb.in(raft.LeavingCluster) }, new(machine), membership.Serving, member},
		"absent":     {func(s *scene) { s.nb = members{condition: membership.Absent} }, new(machine), membership.Absent, relation.Identity{}},
		"standalone": {func(s *scene) { s.nb = members{condition: membership.Standalone} }, new(machine), membership.Standalone, relation.Identity{}},
		"left":       {func(s *scene) { s.nb = members{condition: membership.Left} }, &machine{left: true}, membership.Left, relation.Identity{}},
		"failed":     {func(s *scene) { s.nb = members{condition: membership.Failed} }, new(machine), membership.Failed, relation.Identity{Server: full("aa00")}},
		"down":       {func(s *scene) { s.nb = members{condition: membership.Down} }, new(machine), membership.Down, relation.Identity{Server: full("aa00")}},
		"down, and left before": {
			func(s *scene) { s.nb = members{condition: membership.Down} }, &machine{left: true}, membership.Left, relation.Identity{},
		},
		"denied": {
			func(s *scene) { s.nb = members{condition: membership.Hung} },
			&machine{errors: map[raft.Database]string{raft.NB: "(Permission denied)"}}, membership.Unreadable,
			relation.Identity{Server: full("aa00")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := three(t)
			test.scene(&s)
			m := test.machine
			denied := m.errors[raft.NB]
			service := s.on(m)
			if denied != "" {
				m.errors[raft.NB] = denied
			}
			servers := service.ObserveServers(t.Context())
			assert.Equal(t, test.condition, servers[raft.NB].Condition, "%v", servers[raft.NB].Err)
			assert.NotEmpty(t, servers[raft.NB].Text())
			own := service.Identities(t.Context(), servers)
			assert.Equal(t, test.identity, own[raft.NB])
			assert.Equal(t, relation.Identity{Server: full("bb00"), Cluster: cluster(raft.SB)}, own[raft.SB], "the other is not hidden")
		})
	}
}

func TestStatusOfTheOtherDatabaseIsNotBelieved(t *testing.T) {
	s := three(t)
	m := new(machine)
	service := s.on(m)
	m.answers[raft.NB] = m.answers[raft.SB]
	l := service.ObserveServer(t.Context(), raft.NB)
	assert.Equal(t, membership.Unreadable, l.Condition)
	assert.ErrorContains(t, l.Err, `it is of "OVN_Southbound"`)
	assert.False(t, l.Member())
}
