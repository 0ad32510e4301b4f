package status_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// specification is the status that the specification of cluster-status shows, as ovsdb-server prints it.
const specification = `f3be
Name: OVN_Southbound
Cluster ID: 77eb (77eb6ddc-6910-403b-b8da-ce3d90815183)
Server ID: f3be (f3be898b-e8e4-4719-b344-902444227dd7)
Address: ssl:10.5.1.88:6644
Status: cluster member
Role: follower
Term: 8
Leader: d33d
Vote: d33d

Election timer: 4000
Log: [25, 25]
Entries not yet committed: 0
Entries not yet applied: 0
Connections: ->9ea4 ->fbfc <-fbfc <-9ea4 <-d33d ->d33d
Disconnections: 4
Servers:
    d33d (d33d at ssl:10.5.0.92:6644) last msg 839 ms ago
    9ea4 (9ea4 at ssl:10.5.3.144:6644) last msg 81662711 ms ago
    fbfc (fbfc at ssl:10.5.1.86:6644) last msg 1221658 ms ago
    f3be (f3be at ssl:10.5.1.88:6644) (self)
`

func TestCluster_text_of_specification(t *testing.T) {
	parsed, err := raft.Parse(specification)
	require.NoError(t, err)
	model := observe.Application{
		Unit: "ovn-central/3",
		Goal: map[string]juju.UnitGoal{"ovn-central/0": {}, "ovn-central/1": {Status: "dying"}, "ovn-central/3": {}},
		Published: relation.UnitIdentities{
			"ovn-central/0": {ovndb.SB: {Server: "d33d"}}, "ovn-central/1": {ovndb.SB: {Server: "9ea4"}},
		},
		History: relation.History{ovndb.SB: {"fbfc0000-0000-4000-8000-000000000000": {Unit: "ovn-central/2"}}},
	}
	c := observe.Cluster{
		ServerState: observe.ServerState{Database: ovndb.SB, Condition: ovndb.Serving, Status: parsed},
		View:        raft.View{Status: parsed},
	}
	for _, p := range c.View.Peers() {
		o := model.Owner(ovndb.SB, p)
		c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: o, Leaving: model.Dying(o.Unit)})
	}
	servers := strings.Index(specification, "    d33d")
	assert.Equal(t, specification[:servers]+strings.Join([]string{
		"    d33d (d33d at ssl:10.5.0.92:6644) ovn-central/0",
		"    9ea4 (9ea4 at ssl:10.5.3.144:6644) ovn-central/1 (leaving)",
		"    fbfc (fbfc at ssl:10.5.1.86:6644) UNKNOWN (was ovn-central/2)",
		"    f3be (f3be at ssl:10.5.1.88:6644) (self) UNKNOWN",
	}, "\n"), document.Cluster(c))
}

func TestCluster_text_of_newer_server(t *testing.T) {
	s := observetest.Three(t)
	s.NB.Rows[1].Extra = " (learner)"
	s.NB.Unread = []string{"Snapshot: 7"}
	text := document.Cluster(s.Report().Clusters[0])
	assert.Contains(t, text, "match_index=11 (learner) ovn-central/1\n")
	assert.Contains(t, text, "Snapshot: 7")
}

func TestCluster_text_not_served(t *testing.T) {
	s := observetest.Three(t)
	s.SB = observetest.Members{Condition: ovndb.Absent}
	assert.Equal(
		t, "OVN_Southbound: there is no database file, and no server runs", document.Cluster(s.Report().Clusters[1]),
	)
}
