package raft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// R1: a member may be stopped for long if those that remain up are a majority of the configuration as it is.
func TestR1_stop_matches_formula(t *testing.T) {
	t.Parallel()
	permitted := 0
	everyView(largest, func(v View, leader int, up []bool) {
		n := len(up)
		for target := range n {
			led := leader != noLeader && up[leader]
			remain := count(up, target)
			want := finding.Code("")
			switch {
			case n == 1:
				want = finding.SoleMember
			case !led, 2*count(up) <= n:
				want = finding.NoQuorum
			case 2*remain <= n:
				want = finding.QuorumWouldBeLost
			}
			plan := PlanStop(Change{Database: ovndb.NB, View: v, Target: string(memberID(target))})
			if got := reason(plan); got != want {
				require.Failf(t, "wrong verdict", "%v, leader %d, target %d: %q instead of %q", up, leader, target, got, want)
			}
			if want == "" {
				require.Equal(t, Quorum{Members: n, Up: remain}, plan.After)
				permitted++
			}
		}
	})
	require.Positive(t, permitted)
}
