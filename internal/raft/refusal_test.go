package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// What people read, whole. Captured states stand in where there is one.
func TestRefusalsSayWhatIsInTheWay(t *testing.T) {
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
		plan   Plan
		reason Reason
		text   string
		// The arithmetic; empty where there is none, for want of a leader.
		before, after string
	}{
		"leave, one of three dead": {
			PlanLeave(Change{Database: ovndb.NB, View: oneDead, Target: own(oneDead)}), WouldLoseQuorum,
			"nb: of 3 members 2 are up; without 3494 there would be 1 of 2 up, 2 needed; down: ca3c at tcp:127.77.4.3:6643",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"the same, seen by a follower": {
			PlanLeave(Change{Database: ovndb.NB, View: oneDeadSeenByFollower, Target: own(oneDeadSeenByFollower)}), WouldLoseQuorum,
			"nb: of 3 members 2 are up; without 847c there would be 1 of 2 up, 2 needed; down: ca3c at tcp:127.77.4.3:6643",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"a peer hangs while a follower wants to leave": {
			PlanLeave(Change{Database: ovndb.NB, View: silent, Target: own(silent)}), WouldLoseQuorum,
			"nb: of 3 members 2 are up; without 6e62 there would be 1 of 2 up, 2 needed; down: c14a at tcp:127.77.1.3:6643",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"kick of the other live one": {
			PlanKick(Change{Database: ovndb.NB, View: oneDead, Target: "847c", Permit: PermitForce}), WouldLoseQuorum,
			"nb: of 3 members 2 are up; without 847c there would be 1 of 2 up, 2 needed; down: ca3c at tcp:127.77.4.3:6643",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"the leader has lost the majority, and does not know yet": {
			PlanLeave(Change{Database: ovndb.NB, View: exLeader, Target: own(exLeader)}), NoQuorum,
			"nb: no majority is up: 1 of 3 up, 2 needed",
			"1 of 3 up, 2 needed", "0 of 2 up, 2 needed",
		},
		"no leader": {
			PlanLeave(Change{Database: ovndb.NB, View: captured("nb-no-quorum-candidate-survivor"), Target: "d655816d-e97c-4c97-9974-038f7f317a6c"}), NoQuorum,
			"nb: this unit's server knows no leader (disconnected from the cluster (election timeout), candidate): either a majority is down, or this unit is cut off from it",
			"", "",
		},
		"just restarted, alone": {
			PlanKick(Change{Database: ovndb.NB, View: captured("nb-just-restarted-alone"), Target: "74e5", Permit: PermitForce}), NoQuorum,
			"nb: this unit's server knows no leader (cluster member, follower): either a majority is down, or this unit is cut off from it",
			"", "",
		},
		"the leader hangs": {
			PlanLeave(Change{Database: ovndb.SB, View: hungLeader, Target: own(hungLeader)}), NoQuorum,
			"sb: its leader a00e is not known to be up (it does not answer on its client port); an election may be under way",
			"", "",
		},
		"two that share four digits": {
			PlanKick(Change{Database: ovndb.NB, View: View{Status: sharing.Status}, Target: "a001", Permit: PermitForce}), AmbiguousID,
			"nb: a001 can mean a001 at tcp:10.0.0.1:6643, a001 at tcp:10.0.0.2:6643",
			"4 of 4 up, 3 needed", "4 of 4 up, 3 needed",
		},
		"the only member leaves": {
			PlanLeave(Change{Database: ovndb.NB, View: captured("nb-single-server"), Target: "3d688ef7-d508-4110-97ed-35b90c4ace48"}), SoleMember,
			"nb: 3d68 is the only member, and leaving would make the only copy unusable",
			"1 of 1 up, 1 needed", "0 of 0 up, 1 needed",
		},
		"the only member is kicked": {
			PlanKick(Change{Database: ovndb.NB, View: captured("nb-single-server"), Target: "3d688ef7-d508-4110-97ed-35b90c4ace48", Permit: PermitForce}), SoleMember,
			"nb: 3d68 is the only member, and kicking it would make the only copy unusable",
			"1 of 1 up, 1 needed", "0 of 0 up, 1 needed",
		},
		"an ID that is gone": {
			PlanKick(Change{Database: ovndb.SB, View: five, Target: "13fe"}), UnknownID,
			"sb: 13fe is not a member",
			"4 of 5 up, 3 needed", "4 of 5 up, 3 needed",
		},
		"its own ID": {
			PlanKick(Change{Database: ovndb.SB, View: five, Target: own(five), Permit: PermitForce}), OwnID,
			"sb: 6c29 is this unit's own server",
			"4 of 5 up, 3 needed", "3 of 4 up, 3 needed",
		},
		"a live member": {
			PlanKick(Change{Database: ovndb.NB, View: oneDead, Target: "847c"}), LiveMember,
			"nb: 847c is up, and a member that is up is kicked only with force=true",
			"2 of 3 up, 2 needed", "1 of 2 up, 2 needed",
		},
		"a member of a unit that stays": {
			PlanKick(Change{Database: ovndb.NB, View: oneDead, Target: "ca3c", UnitInModel: "ovn-central/2"}), UnitInModel,
			"nb: ca3c belongs to ovn-central/2, which is still in the model",
			"2 of 3 up, 2 needed", "2 of 2 up, 2 needed",
		},
		"another one is being removed": {
			PlanKick(Change{Database: ovndb.NB, View: captured("nb-leader-two-removals-pending"), Target: "3680", Permit: PermitForce}), ChangePending,
			"nb: the removal of 25b7 at tcp:127.77.16.2:6643 is not finished",
			"4 of 4 up, 3 needed", "3 of 3 up, 2 needed",
		},
		"another one is being added": {
			PlanKick(Change{Database: ovndb.NB, View: captured("nb-leader-adding-committing"), Target: "05be", Permit: PermitForce}), ChangePending,
			`nb: another change is not finished: cluster/status shows 26c4 at tcp:127.77.16.4:6643 as "adding: committing"`,
			"4 of 4 up, 3 needed", "3 of 3 up, 2 needed",
		},
		"this one is leaving": {
			PlanKick(Change{Database: ovndb.NB, View: captured("nb-leaving-ex-leader-3member", "6afe", "43a8"), Target: string(fullOf("43a8")), Permit: PermitForce}), NotMember,
			`nb: this unit's server is "leaving cluster"`,
			"3 of 3 up, 2 needed", "2 of 2 up, 2 needed",
		},
		"this one is joining": {
			PlanLeave(Change{Database: ovndb.NB, View: captured("nb-joining-remote-unreachable"), Target: "94740072-fe63-4c80-b7ca-8df80c95cdbc"}), NotMember,
			`nb: this unit's server is "joining cluster"`,
			"", "",
		},
		"this one was removed": {
			PlanKick(Change{Database: ovndb.NB, View: forgotten, Target: "c14a", Permit: PermitForce}), NotMember,
			"nb: this unit's server is not in the cluster's configuration",
			"1 of 1 up, 1 needed", "0 of 0 up, 1 needed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotNil(t, tt.plan.Refusal)
			assert.Equal(t, tt.reason, tt.plan.Refusal.Reason)
			require.EqualError(t, tt.plan.Refusal, tt.text)
			if tt.before != "" {
				assert.Equal(t, tt.before, tt.plan.Before.String())
				assert.Equal(t, tt.after, tt.plan.After.String())
			}
		})
	}
}

// A server that catches up has no vote yet; a removal that was begun may be asked
// for again.
func TestWhatHindersNobody(t *testing.T) {
	t.Parallel()
	tests := map[string]Plan{
		"a server that only catches up": PlanKick(Change{
			Database: ovndb.NB, View: View{Status: captureStatus(t, "nb-leader-adding-no-quorum")}, Target: "7206", Permit: PermitForce,
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
