package maintenance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

func TestNodeIsUnreachableOnlyWhereThatIsProved(t *testing.T) {
	t.Parallel()
	// Each look is at a second: nb_cfg of the node, and that of another; 7 was asked for.
	type seen struct {
		at, its, other int64
		verdict        maintenance.Verdict
	}
	for name, looks := range map[string][]seen{
		"it follows nothing for 180 s":               {{0, 5, 6, maintenance.Undecided}, {179, 5, 7, maintenance.Undecided}, {180, 5, 7, maintenance.Unreachable}},
		"it follows late":                            {{0, 5, 7, maintenance.Undecided}, {170, 7, 7, maintenance.Reachable}},
		"it follows at once":                         {{0, 7, 7, maintenance.Reachable}},
		"it is slow, and behind":                     {{0, 5, 7, maintenance.Undecided}, {170, 6, 7, maintenance.Reachable}},
		"it began anew":                              {{0, 5, 7, maintenance.Undecided}, {170, 0, 7, maintenance.Reachable}},
		"no other follows either":                    {{0, 5, 5, maintenance.Undecided}, {180, 5, 5, maintenance.Unprovable}},
		"it has no row to follow with":               {{0, -1, 7, maintenance.Unprovable}},
		"its row is gone":                            {{0, 5, 7, maintenance.Undecided}, {170, -1, 7, maintenance.Unprovable}},
		"it is ahead, and followed before":           {{0, 9, 7, maintenance.Undecided}, {180, 9, 7, maintenance.Unreachable}},
		"the other is ahead, and followed before":    {{0, 5, 9, maintenance.Undecided}, {180, 5, 9, maintenance.Unprovable}},
		"the other has followed, and more was asked": {{0, 5, 7, maintenance.Undecided}, {180, 5, 6, maintenance.Unreachable}},
		"there is no other that could be told":       {{0, 5, -1, maintenance.Undecided}, {180, 5, -1, maintenance.Unreachable}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := maintenance.Silence{Chassis: "c1"}
			for _, l := range looks {
				signs := []maintenance.Sign{
					{Chassis: "c1", Known: l.its >= 0, Follows: l.its, Responds: l.its == 7}, {Chassis: "c2", Known: l.other >= 0, Follows: l.other, Responds: l.other == 7},
				}
				assert.Equal(t, l.verdict, s.Observe(signs, time.Unix(l.at, 0)), "at %d", l.at)
			}
		})
	}
}

func TestForceConcernsOnlyWhatPortsHold(t *testing.T) {
	t.Parallel()
	all := []maintenance.Hold{
		{Name: maintenance.HoldCompute, Count: 2, Derived: true}, {Name: maintenance.HoldMember, Count: 1, Derived: true}, {Name: "ovn-bgp-agent", Count: 1},
	}
	assert.Equal(t, all[:1], maintenance.PortHolds(all))
	assert.Equal(t, all[1:], maintenance.WithoutPorts(all))
}
