package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// R8: other units may read the configuration without the member before the kicking unit has recorded the removal.
func TestFormerMembers_are_known_by_history_record_or_intent(t *testing.T) {
	t.Parallel()
	const once, recorded, kicked, joins raft.ID = "aaaaaaaa-284d-47b2-9acc-fb82170132ed",
		"bbbbbbbb-284d-47b2-9acc-fb82170132ed", "cccccccc-284d-47b2-9acc-fb82170132ed", "dddddddd-284d-47b2-9acc-fb82170132ed"
	m := observe.Application{
		History:   relation.History{ovndb.NB: {once: {Unit: "ovn-central/3"}}},
		Published: relation.UnitIdentities{"ovn-central/4": {ovndb.NB: {Server: joins}}},
	}
	former := func(lock string) (ids []raft.ID) {
		for _, p := range formerMembers(m, ovndb.NB, map[string]string{
			observe.RemovedPrefix + string(recorded): "ovn-central/2, kicked", observe.LockKey: lock,
		}) {
			ids = append(ids, p.ID)
		}
		return ids
	}
	lock := lease.Record{}.Taken("ovn-central/0", 1).WithIntent(lease.Intent{ID: string(kicked), Kind: lease.Kick})
	assert.ElementsMatch(t, []raft.ID{once, recorded, kicked}, former(lock.String()))
	assert.ElementsMatch(t, []raft.ID{once, recorded}, former("damaged"))
}
