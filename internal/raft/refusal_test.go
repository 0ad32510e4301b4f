package raft

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The states are captures if possible.
func TestPlan_refusals(t *testing.T) {
	t.Parallel()
	captured := func(file string, answering ...string) View {
		s := captureStatus(t, file)
		return View{Status: s, Probes: answers(t, s, answering...)}
	}
	oneDead := captured("nb-leader-one-of-three-dead")
	five := captured("sb-5member-follower-one-dead", "617e", "5bb3", "a00e")
	hungLeader := captured("sb-5member-follower-one-dead", "617e", "5bb3")
	exLeader := captured("nb-leader-one-of-three-dead")
	rowOf(t, &exLeader.Status, "847c").LastMsg = new(ms(1600))
	sharing, _, _ := twins(0)
	sharing = View{Status: sharing.Status}
	forgotten := captured("nb-3member-leader")
	forgotten.Status.Servers = forgotten.Status.Servers[:1]

	const lost = "error QUORUM_WOULD_BE_LOST nb Count=2 Total=3 After=1/2 Member="
	tests := map[string]struct {
		view View
		// kick is the target of a kick; empty for the leave of this server.
		kick   string
		change Change
		want   string
		// quorums are up/members before and after; empty without a leader.
		quorums string
	}{
		"leave, one of three dead": {
			oneDead, "", Change{}, lost + "3494 at tcp:127.77.4.4:6643 Down=[ca3c at tcp:127.77.4.3:6643]", "2/3 1/2",
		},
		"the same, seen by a follower": {
			captured("nb-follower-one-of-three-dead", "3494"), "",
			Change{},
			lost + "847c at tcp:127.77.4.5:6643 Down=[ca3c at tcp:127.77.4.3:6643]", "2/3 1/2",
		},
		"leave of a follower, a member hangs": {
			captured("nb-3member-follower2", "7d80"), "",
			Change{},
			lost + "6e62 at tcp:127.77.1.2:6643 Down=[c14a at tcp:127.77.1.3:6643]", "2/3 1/2",
		},
		"kick of the other live one": {
			oneDead, "847c",
			Change{Permit: PermitForce},
			lost + "847c at tcp:127.77.4.5:6643 Down=[ca3c at tcp:127.77.4.3:6643]", "2/3 1/2",
		},
		"the leader has lost the majority": {
			exLeader, "", Change{}, "error NO_QUORUM nb Count=1 Total=3 Reasons=UP_NOW 1 3", "1/3 0/2",
		},
		"no leader": {
			captured("nb-no-quorum-candidate-survivor"), "",
			Change{},
			"error NO_LEADER nb Detail=disconnected from the cluster (election timeout), candidate", "",
		},
		"just restarted, alone": {
			captured("nb-just-restarted-alone"), "74e5",
			Change{Permit: PermitForce},
			"error NO_LEADER nb Detail=cluster member, follower", "",
		},
		"the leader hangs": {
			hungLeader, "",
			Change{},
			"error LEADER_UNSEEN sb Member=a00e at tcp:127.77.16.1:6644 Reasons=NO_ANSWER", "",
		},
		"two that share four digits": {
			sharing, "a001",
			Change{Permit: PermitForce},
			"error MEMBER_AMBIGUOUS nb Value=a001 Count=2 Members=[a001 at tcp:10.0.0.1:6643 a001 at tcp:10.0.0.2:6643]",
			"4/4 4/4",
		},
		"the only member leaves": {
			captured("nb-single-server"), "", Change{}, "error SOLE_MEMBER nb Member=3d68 at tcp:127.77.2.1:6643", "1/1 0/0",
		},
		"the only member is kicked": {
			captured("nb-single-server"), "3d68",
			Change{Permit: PermitForce},
			"error SOLE_MEMBER nb Member=3d68 at tcp:127.77.2.1:6643", "1/1 0/0",
		},
		"an ID that is gone": {five, "13fe", Change{}, "error UNKNOWN_MEMBER sb Value=13fe", "4/5 4/5"},
		"its own ID": {
			five, string(five.Status.Server),
			Change{Permit: PermitForce},
			"error OWN_MEMBER sb Member=6c29 at tcp:127.77.16.3:6644", "4/5 3/4",
		},
		"a live member": {oneDead, "847c", Change{}, "error MEMBER_IS_LIVE nb Member=847c at tcp:127.77.4.5:6643", "2/3 1/2"},
		"a member of a unit that stays": {
			oneDead, "ca3c",
			Change{UnitInModel: "ovn-central/2"},
			"error UNIT_IN_MODEL nb Unit=ovn-central/2 Member=ca3c at tcp:127.77.4.3:6643", "2/3 2/2",
		},
		"another one is being removed": {
			captured("nb-leader-two-removals-pending"), "3680",
			Change{Permit: PermitForce},
			"waiting CHANGE_PENDING nb Value=removing Member=25b7 at tcp:127.77.16.2:6643", "4/4 3/3",
		},
		"another one is being added": {
			captured("nb-leader-adding-committing"), "05be",
			Change{Permit: PermitForce},
			"waiting CHANGE_PENDING nb Value=adding: committing Member=26c4 at tcp:127.77.16.4:6643", "4/4 3/3",
		},
		"this one is leaving": {
			captured("nb-leaving-ex-leader-3member", "6afe", "43a8"), string(fullOf("43a8")),
			Change{Permit: PermitForce},
			"error NOT_A_MEMBER nb Detail=leaving cluster", "3/3 2/2",
		},
		"this one is joining": {
			captured("nb-joining-remote-unreachable"), "", Change{}, "error NOT_A_MEMBER nb Detail=joining cluster", "",
		},
		"this one was removed": {forgotten, "c14a", Change{Permit: PermitForce}, "error NOT_A_MEMBER nb", "1/1 0/0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, judge := tt.change, PlanKick
			c.Database, c.View, c.Target = ovndb.Database(tt.view.Status.Name), tt.view, tt.kick
			if tt.kick == "" {
				c.Target, judge = string(tt.view.Status.Server), PlanLeave
			}
			plan := judge(c)
			require.NotNil(t, plan.Refusal)
			assert.Equal(t, tt.want, brief(plan))
			if b, a := plan.Before, plan.After; tt.quorums != "" {
				assert.Equal(t, tt.quorums, fmt.Sprintf("%d/%d %d/%d", b.Up, b.Members, a.Up, a.Members))
			}
		})
	}
}

// Neither a server that still catches up, since it has no vote yet, nor a repeated removal prevents a change.
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
