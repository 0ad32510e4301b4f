package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// R4: only force permits to kick a member that is up or whose unit stays. Force permits nothing else.
func TestR4_force_permits_nothing_else(t *testing.T) {
	t.Parallel()
	everyView(5, func(v View, leader int, up []bool) {
		for target := 1; target < len(up); target++ {
			for _, unit := range []string{"", "ovn-central/7"} {
				c := Change{Database: ovndb.NB, View: v, Target: v.Peers()[target].Longest(), UnitInModel: unit}
				gentle := PlanKick(c)
				c.Permit = PermitUnitInModel
				dead := PlanKick(c)
				c.Permit = PermitForce
				forced := PlanKick(c)
				require.Equal(t, forced.Before, gentle.Before)
				require.Equal(t, forced.After, gentle.After)

				live := v.Status.HasLeader() && v.LeaderUp() && up[target]
				switch {
				case !v.LeaderUp():
					require.Equal(t, finding.NoQuorum, reason(gentle))
					require.Equal(t, finding.NoQuorum, reason(forced))
				case unit != "":
					require.Equal(t, finding.UnitInModel, reason(gentle))
					require.Equal(t, unit, gentle.Refusal.Args.Unit)
				case live:
					require.Equal(t, finding.MemberIsLive, reason(gentle))
				default:
					require.Equal(t, reason(forced), reason(gentle), "leader %d of %v", leader, up)
				}
				require.NotContains(t, []finding.Code{finding.MemberIsLive, finding.UnitInModel}, reason(forced))
				if live { // if the unit is back, it keeps its member
					require.Equal(t, finding.MemberIsLive, reason(dead))
				} else {
					require.Equal(t, reason(forced), reason(dead))
				}

				c.Permit = PermitForce // has no effect
				weakest, ok := WeakestPermit(c)
				require.Equal(t, forced.Refusal == nil, ok)
				switch {
				case !ok:
				case live:
					require.Equal(t, PermitForce, weakest)
				case unit != "":
					require.Equal(t, PermitUnitInModel, weakest)
				default:
					require.Equal(t, PermitNone, weakest)
				}
			}
		}
	})
}

// R11: fewer than three members, and even numbers.
func TestR11_small_or_even_clusters_warn(t *testing.T) {
	t.Parallel()
	few := func(count, total int) []finding.Finding {
		return []finding.Finding{finding.Of(finding.FewWouldStay, ovndb.SB, finding.Args{Count: count, Total: total})}
	}
	tests := map[int][]finding.Finding{2: few(1, 0), 3: few(2, 0), 4: nil, 5: few(4, 1), 6: nil, 7: few(6, 2)}
	for n, want := range tests {
		c := Change{Database: ovndb.SB, View: viewOf(0, allUp(n)), Target: string(memberID(0))}
		plan := PlanLeave(c)
		require.Nil(t, plan.Refusal)
		assert.Equal(t, want, plan.Warnings, "of %d, one leaves", n)

		if n == 2 {
			continue // the other member can only be kicked while it is up
		}
		c.View, c.Target = viewOf(0, allUp(n, 1)), memberID(1).Short()
		plan = PlanKick(c)
		require.Nil(t, plan.Refusal)
		assert.Equal(t, want, plan.Warnings, "of %d, one is kicked", n)
	}
}

func TestR11_refused_change_has_no_warning(t *testing.T) {
	t.Parallel()
	plan := PlanLeave(Change{Database: ovndb.NB, View: viewOf(0, allUp(3, 2)), Target: string(memberID(0))})
	require.Equal(t, finding.QuorumWouldBeLost, reason(plan))
	assert.Empty(t, plan.Warnings)
}
