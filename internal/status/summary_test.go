package status_test

import (
	"errors"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestStatusOfTheUnitSaysTheMostPressingThing(t *testing.T) {
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		word     juju.StatusWord
		text     string
	}{
		"all is well": {
			func(*observetest.Scenario) {},
			juju.Active, "leader: ovnnb_db; 3 of 3 up, 1 may fail",
		},
		"clusters of different size": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01") },
			juju.Active, "leader: ovnnb_db; nb 2 of 2 up, sb 3 of 3 up, none may fail",
		},
		"a unit is down": {
			func(s *observetest.Scenario) {
				s.NB, s.SB = observetest.Up("aa00", "aa01").Down("aa02"), observetest.Up("bb00", "bb01").Down("bb02")
			},
			juju.Active, "nb aa02 (ovn-central/2) down, sb bb02 (ovn-central/2) down; leader: ovnnb_db, ovnsb_db; 2 of 3 up, none may fail",
		},
		"a stale member": {
			func(s *observetest.Scenario) { s.SB = s.SB.Down("13fe") },
			juju.Active, "no more may fail; stale member: juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true (sb 13fe (was ovn-central/4)); leader: ovnnb_db; nb 3 of 3 up, sb 3 of 4 up, none may fail",
		},
		"stale members in both": {
			func(s *observetest.Scenario) { s.NB, s.SB = s.NB.Down("aa04"), s.SB.Down("13fe") },
			juju.Active, "no more may fail; stale member: juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true (nb aa04 (was ovn-central/4), sb 13fe (was ovn-central/4)); leader: ovnnb_db; 3 of 4 up, none may fail",
		},
		"a stale member of nobody": {
			func(s *observetest.Scenario) { s.SB, s.History = s.SB.Down("13fe"), nil },
			juju.Active, "no more may fail; stale member: juju run ovn-central/0 kick sb-identity=13fe i-really-mean-it=true (sb 13fe at ssl:10.0.0.13:6644 (unknown unit)); leader: ovnnb_db; nb 3 of 3 up, sb 3 of 4 up, none may fail",
		},
		"a member of a unit that has yet to publish": {
			func(s *observetest.Scenario) { s.SB, s.Goal["ovn-central/5"] = s.SB.Down("13fe"), "waiting" },
			juju.Active, "sb 13fe (was ovn-central/4) down; leader: ovnnb_db; nb 3 of 3 up, sb 3 of 4 up, none may fail",
		},
		"no quorum, of which nobody is named as dead": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff() },
			juju.Blocked, "nb: no quorum; run: juju run ovn-central/0 recover dry-run=true (1 of 3 members answer; none from ovn-central/1, ovn-central/2)",
		},
		"no quorum any more, as the leader itself sees": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Down("aa01", "aa02") },
			juju.Blocked, "nb: no quorum; run: juju run ovn-central/0 recover dry-run=true (1 of 3 members answer; none from ovn-central/1, ovn-central/2)",
		},
		"no quorum in either database": {
			func(s *observetest.Scenario) {
				s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02").CutOff(), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
			},
			juju.Blocked, "nb, sb: no quorum; run: juju run ovn-central/0 recover dry-run=true (1 of 3 members answer; none from ovn-central/1, ovn-central/2)",
		},
		"no quorum, and a member answers that sees none either": {
			func(s *observetest.Scenario) {
				s.NB = observetest.Up("aa00").Searching("aa01").Down("aa02", "aa04", "aa05").CutOff()
			},
			juju.Blocked, "nb: no quorum; run: juju run ovn-central/0 recover dry-run=true (2 of 5 members answer; none from aa04 (was ovn-central/4), aa05 at ssl:10.0.0.14:6643 (unknown unit), ovn-central/2)",
		},
		"an election": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Searching("aa01").Down("aa02").CutOff() },
			juju.Waiting, "nb: a leader is being elected; 2 of 3 members answer",
		},
		"this server is the one that is cut off": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01", "aa02").CutOff() },
			juju.Waiting, "nb: this unit's server hears no leader, 2 of 3 members do; is port 6643 open?",
		},
		"the leader is heard, and client ports are closed": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Closed("aa01", "aa02").Following("aa01") },
			juju.Waiting, "nb: a leader is known, but this unit sees only 1 of 3 members up (ovn-central/1: it does not answer on its client port)",
		},
		"the leader was heard, and its connection is gone": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa02").Down("aa01").Following("aa01") },
			juju.Waiting, "nb: a leader is being elected; 2 of 3 members answer",
		},
		"a stale member that is up": {
			func(s *observetest.Scenario) { s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"}) },
			juju.Active, "stale member: juju run ovn-central/0 kick unit=ovn-central/4 force=true i-really-mean-it=true (nb aa04 (was ovn-central/4), which is up); leader: ovnnb_db; nb 4 of 4 up, sb 3 of 3 up, 1 may fail",
		},
		"a unit waits to leave for a stale member": {
			func(s *observetest.Scenario) {
				s.Goal["ovn-central/2"] = "dying"
				s.NB, s.SB = observetest.Up("aa00", "aa01", "aa02"), observetest.Up("bb00", "bb02").Down("13fe")
				s.Published = map[string][2]string{"ovn-central/0": {"aa00", "bb00"}, "ovn-central/2": {"aa02", "bb02"}}
				delete(s.Goal, "ovn-central/1")
				s.History[ovndb.NB]["aa01"] = "ovn-central/1"
			},
			juju.Active, "ovn-central/2 waits to leave: juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true (sb 13fe (was ovn-central/4) is down); leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail",
		},
		"a unit waits to leave for a unit that is down": {
			func(s *observetest.Scenario) {
				s.Goal["ovn-central/2"] = "dying"
				s.SB = observetest.Up("bb00", "bb02").Down("bb01")
			},
			juju.Active, "juju run ovn-central/0 kick sb-identity=" + string(observetest.Full("bb01"))[:8] + " unit-in-model=true i-really-mean-it=true " +
				"(if it is lost; else start its servers; sb bb01 (ovn-central/1) is down); ovn-central/2 waits to leave; leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail",
		},
		"a unit waits to leave while another one is leaving": {
			func(s *observetest.Scenario) {
				s.Goal["ovn-central/1"], s.Goal["ovn-central/2"] = "dying", "dying"
				s.SB = observetest.Up("bb00", "bb02").Down("bb01")
				s.SB.ChangedBy = "ovn-central/1"
			},
			juju.Active, "ovn-central/2 waits to leave: ovn-central/1 is changing the membership; leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail",
		},
		"a unit does not wait while it is itself leaving": {
			func(s *observetest.Scenario) {
				s.Goal["ovn-central/2"] = "dying"
				s.SB = observetest.Up("bb00", "bb02").Down("bb01")
				s.SB.ChangedBy = "ovn-central/2"
			},
			juju.Active, "sb bb01 (ovn-central/1) down; leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail",
		},
		"a unit is being removed and may leave": {
			func(s *observetest.Scenario) { s.Goal["ovn-central/2"] = "dying" },
			juju.Active, "leader: ovnnb_db; 3 of 3 up, 1 may fail",
		},
		"every unit is being removed, and another one's servers have stopped": {
			func(s *observetest.Scenario) {
				for unit := range s.Goal {
					s.Goal[unit] = "dying"
				}
				s.SB = observetest.Up("bb00", "bb02").Down("bb01")
			},
			juju.Waiting, "every unit is being removed",
		},
		"every unit is being removed, and a majority has stopped": {
			func(s *observetest.Scenario) {
				for unit := range s.Goal {
					s.Goal[unit] = "dying"
				}
				s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02"), observetest.Up("bb00").Down("bb01", "bb02")
			},
			juju.Waiting, "every unit is being removed",
		},
		"every unit is being removed, and one has gone": {
			func(s *observetest.Scenario) {
				s.Goal = map[string]string{"ovn-central/0": "dying"}
				s.NB = s.NB.Down("aa04")
			},
			juju.Waiting, "every unit is being removed",
		},
		"no database yet": {
			func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Absent} },
			juju.Waiting, "nb: no database yet",
		},
		"joining": {
			func(s *observetest.Scenario) { s.SB = observetest.Up("bb00").In(raft.JoiningCluster) },
			juju.Waiting, "sb: joining the cluster",
		},
		"leaving": {
			func(s *observetest.Scenario) { s.SB = s.SB.In(raft.LeavingCluster) },
			juju.Waiting, "sb: leaving the cluster",
		},
		"left": {
			func(s *observetest.Scenario) { s.SB = observetest.Members{Condition: ovndb.Left} },
			juju.Blocked, "sb: this unit's server has left the cluster or was kicked from it",
		},
		"standalone": {
			func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Standalone} },
			juju.Blocked, "nb: the database is standalone, not a member of a cluster",
		},
		"disk full": {
			func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Failed} },
			juju.Blocked, "nb: the server runs but has given up the database, as it does when it can't write to the disk; see its log",
		},
		"server down": {
			func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Down} },
			juju.Blocked, "nb: the server is not running",
		},
		"server hung": {
			func(s *observetest.Scenario) {
				s.SB = observetest.Members{Condition: ovndb.Hung, Err: errors.New("server does not answer within 5s")}
			},
			juju.Blocked, "sb: the server hangs: server does not answer within 5s",
		},
		"answer that is none": {
			func(s *observetest.Scenario) {
				s.SB = observetest.Members{Condition: ovndb.Unreadable, Err: errors.New("cannot read cluster/status: it is empty")}
			},
			juju.Blocked, "sb: cannot read cluster/status: it is empty",
		},
		"trouble of this unit comes before that of others": {
			func(s *observetest.Scenario) {
				s.NB, s.SB = s.NB.Down("aa04"), observetest.Members{Condition: ovndb.Down}
			},
			juju.Blocked, "sb: the server is not running",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := observetest.JoinedBy4(t)
			test.scenario(&s)
			said := status.Summarize(s.Report(), false)
			assert.Equal(t, test.text, said.String())
			assert.Equal(t, test.word, said.Word)
		})
	}
}

// As the Python charm says it; operators search for it (the charm guide's page of
// queries).
// zaza waits for messages that begin so.
func TestActiveUnitsSayThatTheyAreReady(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Unit is ready (3 of 3 up, 1 may fail)", status.Ready("3 of 3 up, 1 may fail"))
}

func TestStatusOfTheUnitNamesWhatIsActiveOnIt(t *testing.T) {
	s := observetest.Three(t)
	assert.Equal(t, "leader: ovnnb_db northd: active; 3 of 3 up, 1 may fail", status.Summarize(s.Report(), true).String())
	s.SB = observetest.Up("bb00", "bb01", "bb02")
	assert.Equal(t, "leader: ovnnb_db, ovnsb_db; 3 of 3 up, 1 may fail", status.Summarize(s.Report(), false).String())
	s.NB, s.SB = s.NB.Following("aa01"), s.SB.Following("bb01")
	assert.Equal(t, "northd: active; 3 of 3 up, 1 may fail", status.Summarize(s.Report(), true).String())
}

// 0010 is printed bare; Juju makes 8 of it, which 0008 can be too.
func TestR4NextPrintsIDsThatJujuKeeps(t *testing.T) {
	s := observetest.Three(t)
	s.NB = s.NB.Down("0010", "0008")
	lines := status.Next(s.Report())
	require.NotEmpty(t, lines)
	for _, line := range lines {
		observetest.Accepts(t, s, line)
	}
}

// The most pressing thing comes first: a quorum that is lost, not a join.
func TestStatusNamesALostQuorumBeforeAWait(t *testing.T) {
	for _, nb := range []observetest.Members{{Condition: ovndb.Absent}, observetest.Up("aa00").In(raft.JoiningCluster)} {
		s := observetest.Three(t)
		s.NB, s.SB = nb, observetest.Up("bb00").Down("bb01", "bb02").CutOff()
		said := status.Summarize(s.Report(), false)
		assert.Equal(t, juju.Blocked, said.Word, said)
	}
}

// A follower that knows a leader but can ask nobody (no certificate, a closed port)
// knows nothing of the quorum; "nb has no quorum: 0 of 3 up" is not what it saw.
func TestStatusOfAFollowerThatCanAskNobodyDoesNotCountAllAsDown(t *testing.T) {
	s := observetest.Three(t)
	c := s.Cluster(ovndb.SB, s.SB)
	c.View.Probes = nil
	c.Quorum = c.View.Quorum()
	r := s.Report()
	r.Clusters[1] = c
	assert.NotContains(t, status.Summarize(r, false).String(), "0 of 3 up")
}
