package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

func TestRemotes_addresses_of_members(t *testing.T) {
	t.Parallel()
	at := func(address string) string { return ovndb.RaftAddress(ovndb.NB, address) }
	peers := []string{at(addressOf(2)), at(addressOf(1))}
	for title, c := range map[string]struct {
		members, want []string
	}{
		"no members are known":     {nil, peers},
		"at_members_addresses":     {append([]string{at(addressOf(9))}, peers...), peers},
		"all have other addresses": {[]string{at("10.9.9.1"), at("10.9.9.2")}, append(peers, at("10.9.9.1"), at("10.9.9.2"))},
		"one has":                  {[]string{at("10.9.9.1"), peers[1]}, append(peers, at("10.9.9.1"))},
		"one had this unit's":      {[]string{at(addressOf(0)), peers[1]}, peers},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := well()
			s.Databases[ovndb.NB] = plan.Database{Condition: ovndb.Absent}
			s.Members = map[ovndb.Database][]string{ovndb.NB: c.members}
			step := plan.Decide(s).Step
			require.NotNil(t, step)
			require.Equal(t, plan.JoinCluster, step.Kind)
			assert.Equal(t, c.want, step.Remotes)
		})
	}
}

// Juju may drop the data of a unit that is being removed and serves the cluster that it has made in a recovery.
func TestRemotes_new_cluster_of_dying_unit(t *testing.T) {
	t.Parallel()
	members := []string{ovndb.RaftAddress(ovndb.NB, addressOf(0)), ovndb.RaftAddress(ovndb.NB, addressOf(1))}
	for title, c := range map[string]struct {
		change func(s *plan.State)
		joins  bool
	}{
		"it has created it": {func(s *plan.State) { s.Peers[0].Dying, s.Clusters.CreatedBy = true, "ovn-central/1" }, true},
		"it has said that it made it": {func(s *plan.State) {
			s.Peers[0].Dying, s.Peers[0].Requests = true, map[ovndb.Database]recovery.Request{ovndb.NB: {Cluster: nbCluster, New: otherCluster}}
		}, true},
		"another one has":           {func(s *plan.State) { s.Peers[0].Dying = true }, false},
		"it stays, and will say so": {func(s *plan.State) { s.Clusters.CreatedBy = "ovn-central/1" }, false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := well()
			s.Databases[ovndb.NB] = plan.Database{Condition: ovndb.Absent}
			s.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: sbCluster}
			s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
			s.Members = map[ovndb.Database][]string{ovndb.NB: members}
			c.change(&s)
			step := plan.Decide(s).Step
			if !c.joins {
				assert.Nil(t, step)
				return
			}
			require.NotNil(t, step)
			assert.Equal(t, plan.Step{Kind: plan.JoinCluster, Database: ovndb.NB, Cluster: otherCluster, Remotes: members[1:]}, *step)
		})
	}
}
