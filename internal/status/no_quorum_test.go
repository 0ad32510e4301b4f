package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// R4: of several units that are removed at once the leader's leave takes an election
// timer; meanwhile a good member is not to be kicked.
func TestNoKickIsPrintedWhileTheLeaderLeaves(t *testing.T) {
	m := observe.Application{Unit: "ovn-central/0", Goal: map[string]juju.UnitGoal{"ovn-central/0": {Status: "dying"}, "ovn-central/1": {Status: "active"}}}
	follower := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{Role: raft.Follower, Leader: "aa01", State: raft.ClusterMember, Server: "aa00"}}
	assert.Equal(t, []string{"wait: the leader is leaving, or an election is under way"}, status.NoQuorumRemediation(m, follower))
	alone := follower
	alone.Status.Role, alone.Status.Leader = raft.Candidate, ""
	ways := status.NoQuorumRemediation(m, alone)
	assert.Contains(t, ways[0], "this unit is cut off: ")
	assert.Contains(t, ways[0], "kick nb-identity=aa00")
}
