package node_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Unknown parts are reported as such, not as absent.
func TestCharmOf_unknown_parts(t *testing.T) {
	t.Parallel()
	serving := func(d ovndb.Database) observe.ServerState {
		return observe.ServerState{Database: d, Condition: ovndb.Serving, Status: raft.Status{
			Name: string(d), Server: "aa00", State: raft.ClusterMember, Role: raft.Leader, Leader: raft.Self,
			Servers: []raft.Member{
				{Short: "aa00", Address: "ssl:10.0.0.1:6643", Self: true},
				{Short: "aa01", Address: "ssl:[fd00::2]:6643"},
				{Short: "aa07", Address: "ssl:10.0.0.7:6643"},
			},
		}}
	}
	both := map[ovndb.Database]observe.ServerState{ovndb.NB: serving(ovndb.NB), ovndb.SB: serving(ovndb.SB)}
	m := observe.Application{
		Unit: "u/0", Goal: map[string]juju.UnitGoal{"u/0": {}, "u/1": {}, "u/2": {}},
		Published: relation.UnitIdentities{"u/1": {ovndb.NB: {Server: "aa01"}, ovndb.SB: {Server: "aa01"}}},
		Places:    map[string]observe.Place{"u/1": {Hostname: "one"}, "u/2": {Address: "10.0.0.3", Hostname: "two"}},
	}
	c := node.CharmOf(m, both, "zero")
	assert.Empty(t, c.Unknown)
	assert.Equal(t, []maintenance.Unit{
		{Name: "u/0", Hostname: "zero", Addresses: []string{"10.0.0.1"}},
		{Name: "u/1", Hostname: "one", Addresses: []string{"fd00::2"}},
		{Name: "u/2", Hostname: "two", Addresses: []string{"10.0.0.3"}},
	}, c.Units)
	assert.Len(t, c.Members, 6)
	assert.Equal(t, maintenance.Member{
		Database: "OVN_Northbound", Short: "aa07", Address: "ssl:10.0.0.7:6643", Host: "10.0.0.7",
	}, c.Members[2])

	delete(m.Places, "u/2")
	m.Unread = errors.New("silent")
	both[ovndb.SB] = observe.ServerState{Database: ovndb.SB, Condition: ovndb.Down}
	c = node.CharmOf(m, both, "zero")
	assert.Equal(t, "QUOTED silent; MEMBERS_OF OVN_Southbound (NOT_RUNNING); MACHINE_UNNAMED u/2",
		findingtest.Reasons(c.Unknown...))
	assert.Equal(t, "MEMBERS_OF OVN_Northbound (NOT_CHECKED); MEMBERS_OF OVN_Southbound (NOT_CHECKED)",
		findingtest.Reasons(node.CharmOf(observe.Application{Unit: "u/0"}, nil, "zero").Unknown...))
}
