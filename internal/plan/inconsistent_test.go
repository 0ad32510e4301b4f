package plan_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A server that has skipped an entry of its log serves different data: no client is sent to it, and an operator
// decides.
func TestDecide_inconsistent_server_has_remedy(t *testing.T) {
	t.Parallel()
	differs := func(change func(*plan.Database)) func(*plan.State) {
		return func(s *plan.State) {
			edit(s, ovndb.SB, func(x *plan.Database) {
				x.Inconsistent, x.Rejoin = "an entry of its log was not applied", rejoin
				change(x)
			})
		}
	}
	check(t, map[string]situation{
		"as a follower": {differs(func(*plan.Database) {}), finds(
			"error DATA_DIFFER sb Service=ovn-ovsdb-server-sb Detail=an entry of its log was not applied -> ovn-central/0 rejoin database=nb")},
		"as the leader": {differs(func(x *plan.Database) { x.Status.Role, x.Status.Leader = raft.Leader, raft.Self }), finds(
			"error DATA_DIFFER sb Service=ovn-ovsdb-server-sb Detail=an entry of its log was not applied -> ovn-central/0 rejoin database=nb")},
		"it was removed while it was down": {
			differs(func(x *plan.Database) {
				x.Status.State, x.Status.Role, x.Status.Leader, x.Removed = raft.Disconnected, raft.Candidate, raft.UnknownRef, true
			}),
			does("leave the cluster of sb (the other members have removed this server)",
				"error DATA_DIFFER sb Service=ovn-ovsdb-server-sb Detail=an entry of its log was not applied -> ovn-central/0 rejoin database=nb",
				"waiting SERVER_REMOVED sb"),
		},
		"no other unit could remove it": {
			differs(func(x *plan.Database) { x.Rejoin, x.File.Path = command.Command{}, "/sb" }),
			finds(
				"error DATA_DIFFER sb Path=/sb Service=ovn-ovsdb-server-sb Detail=an entry of its log was not applied -> bring {path} back from a backup"),
		},
	})
}
