package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// R0: a member that has lost entries is down. What was said so of one that was replaced is in the way of nothing.
func TestR0_damaged_ignores_removed_members(t *testing.T) {
	t.Parallel()
	const member, joined, gone raft.ID = "aaaaaaaa-284d-47b2-9acc-fb82170132ed",
		"bbbbbbbb-284d-47b2-9acc-fb82170132ed", "cccccccc-284d-47b2-9acc-fb82170132ed"
	h := &haltOperation{
		server: observe.ServerState{Database: ovndb.NB},
		end:    raftfile.End{Addresses: map[raft.ID]string{member: "ssl:192.0.2.1:6643"}},
		application: observe.Application{Published: relation.UnitIdentities{
			"ovn-central/1": {ovndb.NB: {Server: joined}}, "ovn-central/2": {ovndb.SB: {Server: gone}},
		}},
	}
	ids := map[string]string{"neutron:revision": "1"}
	for _, id := range []raft.ID{member, joined, gone} {
		ids[observe.DamagedPrefix+string(id)] = "record 9 has entry 8"
	}
	assert.ElementsMatch(t, []raft.ID{member, joined}, h.damaged(ids))
	ids[observe.RemovedPrefix+string(member)], ids[observe.RemovedPrefix+string(joined)] = "removed", "removed"
	assert.Empty(t, h.damaged(ids))
}
