package membership_test

import (
	"os"
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// R9: the file on the disk of a server that is down is the only copy if no unit that stays has joined, as far as is
// known.
func TestR9ServerThatIsDownKeepsTheOnlyCopy(t *testing.T) {
	isSole := relation.Configuration{Server: observetest.Full("aa00"), Members: []string{"aa00"}, Since: 3}
	two := relation.Configuration{Server: observetest.Full("aa00"), Members: []string{"aa00", "aa01"}, Since: 3}
	peer := func(since uint64) relation.Identities {
		return relation.Identities{ovndb.NB: {Server: observetest.Full("aa01"), Since: since}}
	}
	old := func(since uint64) relation.Identities {
		return relation.Identities{ovndb.NB: {Server: observetest.Full("aa01"), Cluster: "01d00000-0000-4000-8000-000000000000", Since: since}}
	}
	tests := map[string]struct {
		seen    relation.Configuration
		goal    string
		peer    relation.Identities
		removed bool
		damaged bool
		alone   bool
		refused bool
	}{
		"sole, the other has not joined":                                               {seen: isSole, goal: "active", peer: peer(0), refused: true},
		"sole, the other has published nothing":                                        {seen: isSole, goal: "waiting", refused: true},
		"sole, the other has joined since":                                             {seen: isSole, goal: "active", peer: peer(9)},
		"sole, the other goes too, and none stays":                                     {seen: isSole, goal: "dying", peer: peer(0)},
		"two, the other stays":                                                         {seen: two, goal: "active", peer: peer(0)},
		"sole, the other was a member and is removed":                                  {seen: isSole, goal: "active", peer: peer(3), removed: true, refused: true},
		"sole of a new cluster, the other publishes the old one":                       {seen: isSole, goal: "active", peer: old(3), refused: true},
		"sole of a new cluster, can't be read, the other publishes the old one":        {seen: isSole, goal: "active", peer: old(3), damaged: true, refused: true},
		"no server has run on the new cluster's file, the other publishes the old one": {goal: "active", peer: old(3), alone: true, refused: true},
		"no server has run on the file, the other has joined":                          {goal: "active", peer: peer(3), alone: true},
		"never seen as a member":                                                       {goal: "active", peer: peer(0)},
		"the memory is of another server":                                              {seen: relation.Configuration{Server: observetest.Full("ee00"), Members: []string{"ee00"}, Since: 3}, goal: "active", peer: peer(0)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := going(t)
			s.Goal = map[string]string{"ovn-central/0": "dying", "ovn-central/1": test.goal}
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Absent}
			m := new(observetest.Machine)
			service := on(s, m)
			model := s.Application()
			own := relation.Identities{ovndb.NB: {Server: observetest.Full("aa00"), Cluster: observetest.Cluster(ovndb.NB)}}
			model.Published = relation.UnitIdentities{"ovn-central/0": own, "ovn-central/1": test.peer}
			text := observetest.FileOf(ovndb.NB, observetest.Full("aa00"), observetest.Cluster(ovndb.NB), nil)
			if test.alone {
				text = observetest.FileOf(ovndb.NB, observetest.Full("aa00"), observetest.Cluster(ovndb.NB), map[raft.ID]string{observetest.Full("aa00"): "ssl:192.0.2.1:6643"})
			}
			if test.damaged {
				text = text[:len(text)-1]
			}
			require.NoError(t, os.WriteFile(service.Files.Paths.File(ovndb.NB), text, 0o600))
			cache := observe.Cache{Configurations: map[ovndb.Database]relation.Configuration{ovndb.NB: test.seen}}
			if test.removed {
				cache.History = relation.History{ovndb.NB: {observetest.Full("aa01"): {Unit: "ovn-central/1", Removed: time.Unix(1, 0)}}}
			}
			_, err := service.Stop(t.Context(), model, cache)
			if !test.refused {
				require.NoError(t, err)
				return
			}
			brief := findingtest.Briefs(err)
			assert.Contains(t, brief, "error ONLY_COPY nb Detail="+service.Files.Paths.File(ovndb.NB))
			assert.Contains(t, brief, " -> ovn-central/0 resume -> then wait")
			assert.Contains(t, brief, " -> TO_TAKE_THE_ONLY_COPY: resolved --no-retry ovn-central/0")
			assert.Empty(t, m.Told)
		})
	}
}
