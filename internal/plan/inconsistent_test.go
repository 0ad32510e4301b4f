package plan_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A server that has left out an entry of its log serves data that no other member has: no client is sent to it,
// and an operator decides.
func TestServerWhoseDataDifferSaysWhatToType(t *testing.T) {
	t.Parallel()
	const text = "sb: its data differ; run: " + rejoin + " (an entry of its log was not applied)"
	differs := func(change func(*plan.Database)) func(*plan.State) {
		return func(s *plan.State) {
			edit(s, ovndb.SB, func(x *plan.Database) {
				x.Inconsistent, x.Rejoin = "an entry of its log was not applied", rejoin
				change(x)
			})
		}
	}
	check(t, map[string]situation{
		"as a follower": {differs(func(*plan.Database) {}), decided{blocked: []string{text}}},
		"as the leader": {differs(func(x *plan.Database) { x.Status.Role, x.Status.Leader = raft.Leader, raft.Self }), decided{blocked: []string{text}}},
		"it was removed while it was down": {
			differs(func(x *plan.Database) {
				x.Status.State, x.Status.Role, x.Status.Leader, x.Removed = raft.Disconnected, raft.Candidate, raft.UnknownRef, true
			}),
			decided{
				step: "leave the cluster of sb (the other members have removed this server)", blocked: []string{text},
				waiting: []string{"sb: this unit's server was removed while it was down; it joins again"},
			},
		},
		"no other unit could remove it": {
			differs(func(x *plan.Database) { x.Rejoin, x.File.Path = "", "/sb" }),
			decided{blocked: []string{"sb: its data differ; bring /sb back from a backup (an entry of its log was not applied)"}},
		},
	})
}
