package recovery

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A unit is given up if all its members are given up by their identities. If it has another member, it is not given
// up, since that member may serve.
func TestGivesUp_unit_by_all_identities(t *testing.T) {
	s := of(3)
	s.Members = append(s.Members, Member{ID: id(7), Unit: unit(2), Exists: true}, Member{ID: id(8)})
	r := Request{Cluster: old, GivenUp: []string{id(1).Short(), id(2).Short(), id(8).Short()}}
	found := s.WithUnits(r)
	assert.Equal(t, []string{"0001", "0002", "0008", unit(1)}, found.GivenUp)
	assert.Equal(t, found, s.WithUnits(found))
	assert.Len(t, r.GivenUp, 3, "the given request is unchanged")
	r.GivenUp = append(r.GivenUp, string(id(7)))
	assert.Contains(t, s.WithUnits(r).GivenUp, unit(2))
}

// Juju makes 15 of give-up=0017, and 3974 of give-up=3974.
func TestGivesUp_ID_read_as_number(t *testing.T) {
	s := State{
		Members: []Member{
			{ID: "0017aaaa-0000-4000-8000-000000000000"},
			{ID: "3974bbbb-0000-4000-8000-000000000000"},
			{ID: "13e4cccc-0000-4000-8000-000000000000"},
		},
	}
	number := func(text string) []raft.IDArgument { return []raft.IDArgument{{Text: text, Number: true}} }
	assert.Equal(t, []string{string(s.Members[0].ID)}, s.Named(number("15")))
	assert.Equal(t, []string{string(s.Members[1].ID)}, s.Named(number("3974")))
	assert.Equal(t, []string{string(s.Members[2].ID)}, s.Named(number("130000")))
	assert.Equal(t, []string{"4711"}, s.Named(number("4711")), "which is then no member")
	assert.Equal(t, []string{"13e4", "ovn-central/2"}, s.Named([]raft.IDArgument{{Text: "13e4"}, {Text: "ovn-central/2"}}))
	s.Members[1].ID = "0f17aaaa-0000-4000-8000-000000000000"
	s.Members[2].ID = "00170000-0000-4000-8000-000000000000"
	assert.Equal(t, []string{"15"}, s.Named(number("15")), "it can be either of two")
}

// An ID is given up by its first four digits or more, as with kick.
func TestGivesUp_prefix_of_ID(t *testing.T) {
	s := of(2)
	for name, known := range map[string]bool{
		string(id(1))[:4]: true, string(id(1))[:8]: true, string(id(1)): true, strings.ToUpper(string(id(1))): true,
		unit(1):           true,
		string(id(1))[:3]: false, "abcd": false, "": false,
	} {
		r := Request{Cluster: old, GivenUp: []string{name}}
		assert.Equal(t, known, len(s.Unknown(r)) == 0, name)
		assert.Equal(t, known, slices.Contains(s.WithUnits(r).GivenUp, unit(1)), name)
	}
}
