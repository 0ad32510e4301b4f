package hooktool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

var since = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newModel has three units; ovn-central/0 is the leader and knows both others, of which /2 is dying.
func newModel() *model.Model {
	s := &model.State{
		App: "ovn-central", JujuVersion: "3.6.11", LeaderVersion: 1, LeaderSettings: map[string]string{"l": "1"}, Config: map[string]any{"interval": 7},
		Units: map[string]*model.Unit{},
		Relations: []*model.Relation{{
			ID: 1, Name: "ovsdb-peer", App: model.Bag{Settings: map[string]string{"app": "data"}}, Units: map[string]*model.Bag{},
		}},
	}
	for range 3 {
		u := s.AddUnit("127.1.2.3")
		u.Workload = model.Status{Status: "active", Message: "ready", Since: since}
		u.Agent = model.Status{Status: "idle", Since: since}
		u.Ports = []string{"6641/tcp"}
		s.Relations[0].Units[u.Name] = &model.Bag{InScope: true, Settings: map[string]string{"name": u.Name, "sb-identity": "0017"}}
		u.Uniter.Relations[1] = &model.Membership{Created: true, Peer: true, Members: map[string]int{}, Seen: map[string]map[string]string{}}
	}
	s.Units["ovn-central/0"].Uniter.Relations[1].Members = map[string]int{"ovn-central/1": 1, "ovn-central/2": 1}
	s.Destroy("ovn-central/2")
	return model.New(s)
}

func TestRelationIDs_dying_relation_is_listed_until_departed(t *testing.T) {
	ids := func(version string, members int) string {
		m := newModel()
		m.Do(func(s *model.State) {
			s.JujuVersion = version
			r := s.Relate("ovsdb", "neutron", 1)
			member := &model.Membership{Created: true, Members: map[string]int{}}
			if members > 0 {
				member.Members["neutron/0"] = 1
			}
			s.Units["ovn-central/0"].Uniter.Relations[r.ID] = member
			r.Dying = true
		})
		got := New(m, "ovn-central/0", model.Hook{}).Run(Request{Dir: "/", Name: "relation-ids", Args: []string{"--format=json", "ovsdb"}})
		return got.Stdout
	}
	assert.Equal(t, "[\"ovsdb:2\"]\n", ids("3.6.11", 1))
	assert.Equal(t, "[]\n", ids("3.6.11", 0))
	assert.Equal(t, "[\"ovsdb:2\"]\n", ids("3.5.0", 0))
}
