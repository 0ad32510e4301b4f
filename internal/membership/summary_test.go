package membership_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// joinedBy4 is three units, and members that ovn-central/4 has left behind.
func joinedBy4(t *testing.T) scene {
	t.Helper()
	s := three(t)
	s.history = map[ovndb.Database]map[string]string{ovndb.NB: {"aa04": "ovn-central/4"}, ovndb.SB: {"13fe": "ovn-central/4"}}
	return s
}

func TestStatusOfTheUnitSaysTheMostPressingThing(t *testing.T) {
	tests := map[string]struct {
		scene func(s *scene)
		word  juju.StatusWord
		text  string
	}{
		"all is well": {
			func(*scene) {},
			juju.Active, "leader: ovnnb_db; 3 of 3 up, 1 may fail",
		},
		"clusters of different size": {
			func(s *scene) { s.nb = up("aa00", "aa01") },
			juju.Active, "leader: ovnnb_db; nb 2 of 2 up, sb 3 of 3 up, none may fail",
		},
		"a unit is down": {
			func(s *scene) { s.nb, s.sb = up("aa00", "aa01").down("aa02"), up("bb00", "bb01").down("bb02") },
			juju.Active, "nb aa02 (ovn-central/2) down, sb bb02 (ovn-central/2) down; leader: ovnnb_db, ovnsb_db; 2 of 3 up, none may fail",
		},
		"a stale member": {
			func(s *scene) { s.sb = s.sb.down("13fe") },
			juju.Active, "no more may fail; stale member: juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true (sb 13fe (was ovn-central/4)); leader: ovnnb_db; nb 3 of 3 up, sb 3 of 4 up, none may fail",
		},
		"stale members in both": {
			func(s *scene) { s.nb, s.sb = s.nb.down("aa04"), s.sb.down("13fe") },
			juju.Active, "no more may fail; stale member: juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true (nb aa04 (was ovn-central/4), sb 13fe (was ovn-central/4)); leader: ovnnb_db; 3 of 4 up, none may fail",
		},
		"a stale member of nobody": {
			func(s *scene) { s.sb, s.history = s.sb.down("13fe"), nil },
			juju.Active, "no more may fail; stale member: juju run ovn-central/0 kick sb-identity=13fe i-really-mean-it=true (sb 13fe at ssl:10.0.0.13:6644 (unknown unit)); leader: ovnnb_db; nb 3 of 3 up, sb 3 of 4 up, none may fail",
		},
		"a member of a unit that has yet to publish": {
			func(s *scene) { s.sb, s.goal["ovn-central/5"] = s.sb.down("13fe"), "waiting" },
			juju.Active, "sb 13fe (was ovn-central/4) down; leader: ovnnb_db; nb 3 of 3 up, sb 3 of 4 up, none may fail",
		},
		"no quorum, of which nobody is named as dead": {
			func(s *scene) { s.nb = up("aa00").down("aa01", "aa02").cutOff() },
			juju.Blocked, "nb: no quorum; run: juju run ovn-central/1 cluster-status (1 of 3 members answer; none from ovn-central/1, ovn-central/2)",
		},
		"no quorum any more, as the leader itself sees": {
			func(s *scene) { s.nb = up("aa00").down("aa01", "aa02") },
			juju.Blocked, "nb: no quorum; run: juju run ovn-central/1 cluster-status (1 of 3 members answer; none from ovn-central/1, ovn-central/2)",
		},
		"no quorum in either database": {
			func(s *scene) {
				s.nb, s.sb = up("aa00").down("aa01", "aa02").cutOff(), up("bb00").down("bb01", "bb02").cutOff()
			},
			juju.Blocked, "nb, sb: no quorum; run: juju run ovn-central/1 cluster-status (1 of 3 members answer; none from ovn-central/1, ovn-central/2)",
		},
		"no quorum, and a member answers that sees none either": {
			func(s *scene) { s.nb = up("aa00").searching("aa01").down("aa02", "aa04", "aa05").cutOff() },
			juju.Blocked, "nb: no quorum; run: juju run ovn-central/1 cluster-status (2 of 5 members answer; none from aa04 (was ovn-central/4), aa05 at ssl:10.0.0.14:6643 (unknown unit), ovn-central/2)",
		},
		"an election": {
			func(s *scene) { s.nb = up("aa00").searching("aa01").down("aa02").cutOff() },
			juju.Waiting, "nb: a leader is being elected; 2 of 3 members answer",
		},
		"this server is the one that is cut off": {
			func(s *scene) { s.nb = up("aa00", "aa01", "aa02").cutOff() },
			juju.Waiting, "nb: this unit's server hears no leader, and 2 of 3 members do; is port 6643 open between them?",
		},
		"the leader is heard, and client ports are closed": {
			func(s *scene) { s.nb = up("aa00").closed("aa01", "aa02").following("aa01") },
			juju.Waiting, "nb: a leader is known, but this unit sees only 1 of 3 members up (ovn-central/1: it does not answer on its client port)",
		},
		"the leader was heard, and its connection is gone": {
			func(s *scene) { s.nb = up("aa00", "aa02").down("aa01").following("aa01") },
			juju.Waiting, "nb: a leader is being elected; 2 of 3 members answer",
		},
		"a stale member that is up": {
			func(s *scene) { s.nb.rows = append(s.nb.rows, row{identity: "aa04"}) },
			juju.Active, "stale member: juju run ovn-central/0 kick unit=ovn-central/4 force=true i-really-mean-it=true (nb aa04 (was ovn-central/4), which is up); leader: ovnnb_db; nb 4 of 4 up, sb 3 of 3 up, 1 may fail",
		},
		"a unit waits to leave for a stale member": {
			func(s *scene) {
				s.goal["ovn-central/2"] = "dying"
				s.nb, s.sb = up("aa00", "aa01", "aa02"), up("bb00", "bb02").down("13fe")
				s.published = map[string][2]string{"ovn-central/0": {"aa00", "bb00"}, "ovn-central/2": {"aa02", "bb02"}}
				delete(s.goal, "ovn-central/1")
				s.history[ovndb.NB]["aa01"] = "ovn-central/1"
			},
			juju.Active, "ovn-central/2 waits to leave: juju run ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true; sb 13fe (was ovn-central/4) is down; leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail",
		},
		"a unit waits to leave for a unit that is down": {
			func(s *scene) {
				s.goal["ovn-central/2"] = "dying"
				s.sb = up("bb00", "bb02").down("bb01")
			},
			juju.Active, "juju run ovn-central/0 kick sb-identity=" + string(full("bb01"))[:8] + " force=true i-really-mean-it=true " +
				"(if it is lost; else start its servers); sb bb01 (ovn-central/1) is down; ovn-central/2 waits to leave; leader: ovnnb_db, ovnsb_db; nb 3 of 3 up, sb 2 of 3 up, none may fail",
		},
		"a unit is being removed and may leave": {
			func(s *scene) { s.goal["ovn-central/2"] = "dying" },
			juju.Active, "leader: ovnnb_db; 3 of 3 up, 1 may fail",
		},
		"no database yet": {
			func(s *scene) { s.nb = members{condition: ovndb.Absent} },
			juju.Waiting, "nb: no database yet",
		},
		"joining": {
			func(s *scene) { s.sb = up("bb00").in(raft.JoiningCluster) },
			juju.Waiting, "sb: joining the cluster",
		},
		"leaving": {
			func(s *scene) { s.sb = s.sb.in(raft.LeavingCluster) },
			juju.Waiting, "sb: leaving the cluster",
		},
		"left": {
			func(s *scene) { s.sb = members{condition: ovndb.Left} },
			juju.Blocked, "sb: this unit's server has left the cluster or was kicked from it",
		},
		"standalone": {
			func(s *scene) { s.nb = members{condition: ovndb.Standalone} },
			juju.Blocked, "nb: the database is standalone, not a member of a cluster",
		},
		"disk full": {
			func(s *scene) { s.nb = members{condition: ovndb.Failed} },
			juju.Blocked, "nb: the server runs but has given up the database, as it does when it can't write to the disk; see its log",
		},
		"server down": {
			func(s *scene) { s.nb = members{condition: ovndb.Down} },
			juju.Blocked, "nb: the server is not running",
		},
		"server hung": {
			func(s *scene) {
				s.sb = members{condition: ovndb.Hung, err: errors.New("server does not answer within 5s")}
			},
			juju.Blocked, "sb: the server hangs: server does not answer within 5s",
		},
		"answer that is none": {
			func(s *scene) {
				s.sb = members{condition: ovndb.Unreadable, err: errors.New("cannot read cluster/status: it is empty")}
			},
			juju.Blocked, "sb: cannot read cluster/status: it is empty",
		},
		"trouble of this unit comes before that of others": {
			func(s *scene) { s.nb, s.sb = s.nb.down("aa04"), members{condition: ovndb.Down} },
			juju.Blocked, "sb: the server is not running",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := joinedBy4(t)
			test.scene(&s)
			said := status.Summarize(s.report(), false)
			assert.Equal(t, test.text, said.String())
			assert.Equal(t, test.word, said.Word)
		})
	}
}

// As the Python charm says it; operators search for it (the charm guide's page of
// queries).
func TestStatusOfTheUnitNamesWhatIsActiveOnIt(t *testing.T) {
	s := three(t)
	assert.Equal(t, "leader: ovnnb_db northd: active; 3 of 3 up, 1 may fail", status.Summarize(s.report(), true).String())
	s.sb = up("bb00", "bb01", "bb02")
	assert.Equal(t, "leader: ovnnb_db, ovnsb_db; 3 of 3 up, 1 may fail", status.Summarize(s.report(), false).String())
	s.nb, s.sb = s.nb.following("aa01"), s.sb.following("bb01")
	assert.Equal(t, "northd: active; 3 of 3 up, 1 may fail", status.Summarize(s.report(), true).String())
}
