package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The states are captured where possible.
func TestPlan_refusals(t *testing.T) {
	t.Parallel()
	captured := func(file string, who ...string) View {
		s := captureStatus(t, file)
		return View{Status: s, Probes: answers(t, s, who...)}
	}
	own := func(v View) string { return string(v.Status.Server) }
	oneDead := captured("nb-leader-one-of-three-dead")
	oneDeadSeenByFollower := captured("nb-follower-one-of-three-dead", "3494")
	five := captured("sb-5member-follower-one-dead", "617e", "5bb3", "a00e")
	hungLeader := captured("sb-5member-follower-one-dead", "617e", "5bb3")
	silent := captured("nb-3member-follower2", "7d80")
	exLeader := captured("nb-leader-one-of-three-dead")
	rowOf(t, &exLeader.Status, "847c").LastMsg = new(ms(1600))
	sharing, _, _ := twins(0)
	forgotten := captured("nb-3member-leader")
	forgotten.Status.Servers = forgotten.Status.Servers[:1]

	tests := map[string]struct {
		plan Plan
		want string
		// Before and after are empty without a leader.
		before, after string
	}{
		"leave, one of three dead": {
			PlanLeave(Change{Database: ovndb.NB, View: oneDead, Target: own(oneDead)}),
			"error QUORUM_WOULD_BE_LOST nb Count=2 Total=3 After=1 of 2 up, 2 needed Member=3494 at tcp:127.77.4.4:6643 " +
				"Down=[ca3c at tcp:127.77.4.3:6643]",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"the same, seen by a follower": {
			PlanLeave(Change{Database: ovndb.NB, View: oneDeadSeenByFollower, Target: own(oneDeadSeenByFollower)}),
			"error QUORUM_WOULD_BE_LOST nb Count=2 Total=3 After=1 of 2 up, 2 needed Member=847c at tcp:127.77.4.5:6643 " +
				"Down=[ca3c at tcp:127.77.4.3:6643]",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"a peer hangs while a follower wants to leave": {
			PlanLeave(Change{Database: ovndb.NB, View: silent, Target: own(silent)}),
			"error QUORUM_WOULD_BE_LOST nb Count=2 Total=3 After=1 of 2 up, 2 needed Member=6e62 at tcp:127.77.1.2:6643 " +
				"Down=[c14a at tcp:127.77.1.3:6643]",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"kick of the other live one": {
			PlanKick(Change{Database: ovndb.NB, View: oneDead, Target: "847c", Permit: PermitForce}),
			"error QUORUM_WOULD_BE_LOST nb Count=2 Total=3 After=1 of 2 up, 2 needed Member=847c at tcp:127.77.4.5:6643 " +
				"Down=[ca3c at tcp:127.77.4.3:6643]",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"the leader has lost the majority, and does not know yet": {
			PlanLeave(Change{Database: ovndb.NB, View: exLeader, Target: own(exLeader)}),
			"error NO_QUORUM nb Count=1 Total=3 Detail=1 of 3 up, 2 needed",
			"1 of 3 up, 2 needed", "0 of 2 up, 2 needed",
		},
		"no leader": {
			PlanLeave(Change{
				Database: ovndb.NB, View: captured("nb-no-quorum-candidate-survivor"),
				Target: "d655816d-e97c-4c97-9974-038f7f317a6c",
			}),
			"error NO_LEADER nb Detail=disconnected from the cluster (election timeout), candidate",
			"", "",
		},
		"just restarted, alone": {
			PlanKick(Change{Database: ovndb.NB, View: captured("nb-just-restarted-alone"), Target: "74e5", Permit: PermitForce}),
			"error NO_LEADER nb Detail=cluster member, follower",
			"", "",
		},
		"the leader hangs": {
			PlanLeave(Change{Database: ovndb.SB, View: hungLeader, Target: own(hungLeader)}),
			"error LEADER_UNSEEN sb Member=a00e at tcp:127.77.16.1:6644 Detail=it does not answer on its client port",
			"", "",
		},
		"two that share four digits": {
			PlanKick(Change{Database: ovndb.NB, View: View{Status: sharing.Status}, Target: "a001", Permit: PermitForce}),
			"error MEMBER_AMBIGUOUS nb Value=a001 Count=2 Members=[a001 at tcp:10.0.0.1:6643 a001 at tcp:10.0.0.2:6643]",
			"4 of 4 up, 3 needed", "4 of 4 up, 3 needed",
		},
		"the only member leaves": {
			PlanLeave(Change{
				Database: ovndb.NB, View: captured("nb-single-server"), Target: "3d688ef7-d508-4110-97ed-35b90c4ace48",
			}),
			"error SOLE_MEMBER nb Member=3d68 at tcp:127.77.2.1:6643",
			"1 of 1 up, 1 needed", "0 of 0 up, 1 needed",
		},
		"the only member is kicked": {
			PlanKick(Change{
				Database: ovndb.NB, View: captured("nb-single-server"), Target: "3d688ef7-d508-4110-97ed-35b90c4ace48",
				Permit: PermitForce,
			}),
			"error SOLE_MEMBER nb Member=3d68 at tcp:127.77.2.1:6643",
			"1 of 1 up, 1 needed", "0 of 0 up, 1 needed",
		},
		"an ID that is gone": {
			PlanKick(Change{Database: ovndb.SB, View: five, Target: "13fe"}),
			"error UNKNOWN_MEMBER sb Value=13fe",
			"4 of 5 up, 3 needed", "4 of 5 up, 3 needed",
		},
		"its own ID": {
			PlanKick(Change{Database: ovndb.SB, View: five, Target: own(five), Permit: PermitForce}),
			"error OWN_MEMBER sb Member=6c29 at tcp:127.77.16.3:6644",
			"4 of 5 up, 3 needed", "3 of 4 up, 3 needed",
		},
		"a live member": {
			PlanKick(Change{Database: ovndb.NB, View: oneDead, Target: "847c"}),
			"error MEMBER_IS_LIVE nb Member=847c at tcp:127.77.4.5:6643",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"a member of a unit that stays": {
			PlanKick(Change{Database: ovndb.NB, View: oneDead, Target: "ca3c", UnitInModel: "ovn-central/2"}),
			"error UNIT_IN_MODEL nb Unit=ovn-central/2 Member=ca3c at tcp:127.77.4.3:6643",
			"2 of 3 up, 2 needed", "2 of 2 up, 2 needed",
		},
		"another one is being removed": {
			PlanKick(Change{
				Database: ovndb.NB, View: captured("nb-leader-two-removals-pending"), Target: "3680", Permit: PermitForce,
			}),
			"waiting CHANGE_PENDING nb Value=removing Member=25b7 at tcp:127.77.16.2:6643",
			"4 of 4 up, 3 needed", "3 of 3 up, 2 needed",
		},
		"another one is being added": {
			PlanKick(Change{
				Database: ovndb.NB, View: captured("nb-leader-adding-committing"), Target: "05be", Permit: PermitForce,
			}),
			"waiting CHANGE_PENDING nb Value=adding: committing Member=26c4 at tcp:127.77.16.4:6643",
			"4 of 4 up, 3 needed", "3 of 3 up, 2 needed",
		},
		"this one is leaving": {
			PlanKick(Change{
				Database: ovndb.NB, View: captured("nb-leaving-ex-leader-3member", "6afe", "43a8"), Target: string(fullOf("43a8")),
				Permit: PermitForce,
			}),
			"error NOT_A_MEMBER nb Detail=leaving cluster",
			"3 of 3 up, 2 needed", "2 of 2 up, 2 needed",
		},
		"this one is joining": {
			PlanLeave(Change{
				Database: ovndb.NB, View: captured("nb-joining-remote-unreachable"), Target: "94740072-fe63-4c80-b7ca-8df80c95cdbc",
			}),
			"error NOT_A_MEMBER nb Detail=joining cluster",
			"", "",
		},
		"this one was removed": {
			PlanKick(Change{Database: ovndb.NB, View: forgotten, Target: "c14a", Permit: PermitForce}),
			"error NOT_A_MEMBER nb",
			"1 of 1 up, 1 needed", "0 of 0 up, 1 needed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotNil(t, tt.plan.Refusal)
			assert.Equal(t, tt.want, brief(tt.plan))
			if tt.before != "" {
				assert.Equal(t, tt.before, tt.plan.Before.String())
				assert.Equal(t, tt.after, tt.plan.After.String())
			}
		})
	}
}

// A server that catches up has no vote yet, and a pending removal may be requested again.
func TestPlan_harmless_pending_changes(t *testing.T) {
	t.Parallel()
	tests := map[string]Plan{
		"a server that only catches up": PlanKick(Change{
			Database: ovndb.NB, View: View{
				Status: captureStatus(t, "nb-leader-adding-no-quorum"),
			}, Target: "7206", Permit: PermitForce,
		}),
		"the removal of the same member": func() Plan {
			s := captureStatus(t, "nb-leader-two-removals-pending")
			s.Removing = nil
			return PlanKick(Change{Database: ovndb.NB, View: View{Status: s}, Target: "2695", Permit: PermitForce})
		}(),
	}
	for name, plan := range tests {
		assert.Nil(t, plan.Refusal, name)
	}
}
