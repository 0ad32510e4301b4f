package status_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// briefs are findings without their details, which are for people. How many members there are is tested in one place.
func briefs(all []finding.Finding) []string {
	texts := []string{}
	for _, f := range all {
		if f.Code == finding.FewMembers {
			continue
		}
		f.Args.Detail, f.Causes = "", nil
		texts = append(texts, findingtest.Brief(f))
	}
	return texts
}

// whatIsWrong are the findings about the application's clusters and this unit's servers.
func whatIsWrong(r observe.Report) []finding.Finding {
	return finding.Sort(append(status.Own(r), status.Clusters(r)...))
}

type scenario = observetest.Scenario

// dying are the units that Juju removes.
func dying(s *scenario, units ...string) {
	for _, unit := range units {
		s.Goal[unit] = "dying"
	}
}

func every(s *scenario) {
	for unit := range s.Goal {
		s.Goal[unit] = "dying"
	}
}

func serverless(c ovndb.Condition, err string) observetest.Members {
	m := observetest.Members{Condition: c}
	if err != "" {
		m.Err = errors.New(err)
	}
	return m
}

const recovers = "-> ovn-central/0 recover dry-run=true"

// id8 is an ID as printed in brief.
func id8(identity string) string { return observetest.Full(identity).Brief() }

func TestClustersAreJudged(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	machine := func(unit string) string {
		return "Unit=" + unit + " -> start the machine of {unit} -> IF_LOST: remove-unit --force " + unit + " add-unit ovn-central"
	}
	for name, test := range map[string]struct {
		change func(s *scenario)
		want   []string
	}{
		"all is well": {func(*scenario) {}, nil},
		"a unit is down": {
			func(s *scenario) { s.NB, s.SB = up("aa00", "aa01").Down("aa02"), up("bb00", "bb01").Down("bb02") },
			[]string{"warning MEMBER_DOWN nb sb ovn-central/2 " + machine("ovn-central/2")},
		},
		"a server of a unit is down": {
			func(s *scenario) { s.NB = up("aa00", "aa01").Down("aa02") },
			[]string{"warning MEMBER_DOWN nb ovn-central/2 " + machine("ovn-central/2")},
		},
		"a unit is down that is being removed": {
			func(s *scenario) {
				dying(s, "ovn-central/2")
				s.NB, s.SB = up("aa00", "aa01").Down("aa02"), up("bb00", "bb01").Down("bb02")
			},
			[]string{"warning MEMBER_DOWN nb sb ovn-central/2 Unit=ovn-central/2 -> start the machine of {unit} -> IF_LOST: remove-unit --force ovn-central/2"},
		},
		"a stale member": {
			func(s *scenario) { s.SB = s.SB.Down("13fe") },
			[]string{"warning STALE_MEMBER sb ovn-central/4 -> ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"},
		},
		"stale members of one unit": {
			func(s *scenario) { s.NB, s.SB = s.NB.Down("aa04"), s.SB.Down("13fe") },
			[]string{"warning STALE_MEMBER nb sb ovn-central/4 -> ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"},
		},
		"stale members of two units": {
			func(s *scenario) {
				s.History[ovndb.SB]["13ff"] = "ovn-central/5"
				s.NB, s.SB = s.NB.Down("aa04"), s.SB.Down("13ff")
			},
			[]string{
				"warning STALE_MEMBER nb ovn-central/4 -> ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true",
				"warning STALE_MEMBER sb ovn-central/5 -> ovn-central/0 kick sb-identity=" + id8("13ff") + " i-really-mean-it=true",
			},
		},
		"stale members of unknown units": {
			func(s *scenario) { s.NB, s.SB, s.History = s.NB.Down("aa04"), s.SB.Down("13fe"), nil },
			[]string{
				"warning STALE_MEMBER nb aa04 at ssl:10.0.0.13:6643 (unknown unit) -> ovn-central/0 kick nb-identity=aa04 i-really-mean-it=true",
				"warning STALE_MEMBER sb 13fe at ssl:10.0.0.13:6644 (unknown unit) -> ovn-central/0 kick sb-identity=13fe i-really-mean-it=true",
			},
		},
		"a stale member is up": {
			func(s *scenario) { s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"}) },
			[]string{"warning STALE_MEMBER nb ovn-central/4 -> power off its machine -> ONCE_MACHINE_OFF: ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"},
		},
		"a stale member is up, and its file lacks entries": {
			func(s *scenario) {
				s.NB.Rows, s.NB.Lost = append(s.NB.Rows, observetest.Row{Identity: "aa04"}), []string{"aa04"}
			},
			[]string{"warning STALE_MEMBER nb ovn-central/4 -> power off its machine -> ONCE_MACHINE_OFF: ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true"},
		},
		"a stale member is up that the quorum needs": {
			func(s *scenario) { s.NB = up("aa00", "aa01", "aa04").Down("aa02") },
			[]string{
				"warning STALE_MEMBER nb ovn-central/4 -> ovn-central/0 kick unit=ovn-central/4 force=true i-really-mean-it=true",
				"warning MEMBER_DOWN nb ovn-central/2 " + machine("ovn-central/2"),
			},
		},
		"a kick in one database would break the quorum": {
			func(s *scenario) { s.NB, s.SB = up("aa00", "aa04").Down("aa01"), s.SB.Down("13fe") },
			[]string{
				"warning STALE_MEMBER nb sb ovn-central/4 -> ovn-central/0 kick sb-identity=" + id8("13fe") + " i-really-mean-it=true",
				"warning MEMBER_DOWN nb ovn-central/1 " + machine("ovn-central/1"),
			},
		},
		"a removal is not finished": {
			func(s *scenario) { s.NB = s.NB.Down("aa04"); s.NB.Rows[1].Phase = raft.RemovingPhase },
			[]string{"warning STALE_MEMBER nb ovn-central/4"},
		},
		"a unit that goes sends to one that stays": {
			func(s *scenario) { dying(s, "ovn-central/0"); s.SB = s.SB.Down("13fe") },
			[]string{"warning STALE_MEMBER sb ovn-central/4 -> ovn-central/1 kick unit=ovn-central/4 i-really-mean-it=true"},
		},
		"a unit has yet to publish": {
			func(s *scenario) { s.SB, s.Goal["ovn-central/5"] = s.SB.Down("13fe"), "waiting" },
			[]string{
				"warning MEMBER_DOWN sb ovn-central/4 -> find out which unit {unit} belongs to {unit=13fe (was ovn-central/4)}",
				"info NOT_PUBLISHED nb sb ovn-central/5",
			},
		},
		"no quorum, of which none is named as dead": {
			func(s *scenario) { s.NB = up("aa00").Down("aa01", "aa02").CutOff() },
			[]string{"error NO_QUORUM nb " + recovers},
		},
		"no quorum, as the leader itself sees": {
			func(s *scenario) { s.NB = up("aa00").Down("aa01", "aa02") },
			[]string{"error NO_QUORUM nb " + recovers},
		},
		"no quorum in either database": {
			func(s *scenario) {
				s.NB, s.SB = up("aa00").Down("aa01", "aa02").CutOff(), up("bb00").Down("bb01", "bb02").CutOff()
			},
			[]string{"error NO_QUORUM nb sb " + recovers},
		},
		"no quorum, and a unit is to join": {
			func(s *scenario) { s.NB, s.SB = serverless(ovndb.Absent, ""), up("bb00").Down("bb01", "bb02").CutOff() },
			[]string{"error NO_QUORUM sb " + recovers, "waiting SERVER_DOWN nb"},
		},
		"no quorum, and this unit's server belonged to another unit": {
			func(s *scenario) { s.NB = serverless(ovndb.Former, "of ovn-central/7") },
			[]string{"waiting SERVER_REMOVED nb"},
		},
		"an election": {
			func(s *scenario) { s.NB = up("aa00").Searching("aa01").Down("aa02").CutOff() },
			[]string{"waiting ELECTING nb Count=2 Total=3"},
		},
		"the leader was heard, and its connection is gone": {
			func(s *scenario) { s.NB = up("aa00", "aa02").Down("aa01").Following("aa01") },
			[]string{"waiting ELECTING nb Count=2 Total=3"},
		},
		"this server is cut off": {
			func(s *scenario) { s.NB = up("aa00", "aa01", "aa02").CutOff() },
			[]string{"waiting CUT_OFF nb Value=port 6643 Count=2 Total=3 -> open {value} of this unit's machine"},
		},
		"these servers are cut off": {
			func(s *scenario) {
				s.NB, s.SB = up("aa00", "aa01", "aa02").CutOff(), up("bb00", "bb01", "bb02").CutOff()
			},
			[]string{"waiting CUT_OFF nb sb Value=ports 6643 and 6644 Count=2 Total=3 -> open {value} of this unit's machine"},
		},
		"client ports are closed": {
			func(s *scenario) { s.NB = up("aa00").Closed("aa01", "aa02").Following("aa01") },
			[]string{"waiting MAJORITY_UNSEEN nb Count=1 Total=3"},
		},
		"a unit waits to leave for a stale member": {
			func(s *scenario) {
				dying(s, "ovn-central/2")
				s.NB, s.SB = up("aa00", "aa01", "aa02"), up("bb00", "bb02").Down("13fe")
				s.Published = map[string][2]string{"ovn-central/0": {"aa00", "bb00"}, "ovn-central/2": {"aa02", "bb02"}}
				delete(s.Goal, "ovn-central/1")
				s.History[ovndb.NB]["aa01"] = "ovn-central/1"
			},
			[]string{
				"warning LEAVE_BLOCKED ovn-central/2 -> ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true",
				"warning STALE_MEMBER nb ovn-central/1 -> power off its machine -> ONCE_MACHINE_OFF: ovn-central/0 kick nb-identity=" + id8("aa01") + " i-really-mean-it=true",
				"warning STALE_MEMBER sb ovn-central/4 -> ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true",
			},
		},
		"a unit waits to leave for a unit that is down": { // of which a server is up in the other database
			func(s *scenario) { dying(s, "ovn-central/2"); s.SB = up("bb00", "bb02").Down("bb01") },
			[]string{
				"warning LEAVE_BLOCKED ovn-central/2 -> start the machine of {unit} {unit=ovn-central/1} " +
					"-> IF_LOST: remove-unit --force ovn-central/1 add-unit ovn-central {unit=ovn-central/1}",
				"warning MEMBER_DOWN sb ovn-central/1 " + machine("ovn-central/1"),
			},
		},
		"units wait to leave, this one too": {
			func(s *scenario) {
				dying(s, "ovn-central/0", "ovn-central/1")
				s.NB, s.SB = up("aa00", "aa01").Down("aa02"), up("bb00", "bb01").Down("bb02").Following("bb01")
			},
			[]string{
				"warning LEAVE_BLOCKED ovn-central/1 -> start the machine of {unit} {unit=ovn-central/2} " +
					"-> IF_LOST: remove-unit --force ovn-central/2 add-unit ovn-central {unit=ovn-central/2}",
				"warning MEMBER_DOWN nb sb ovn-central/2 " + machine("ovn-central/2"),
			},
		},
		"a unit waits to leave while another one leaves": {
			func(s *scenario) {
				dying(s, "ovn-central/1", "ovn-central/2")
				s.SB = up("bb00", "bb02").Down("bb01")
				s.SB.ChangedBy = "ovn-central/1"
			},
			[]string{
				"warning MEMBER_DOWN sb ovn-central/1 Unit=ovn-central/1 -> start the machine of {unit} -> IF_LOST: remove-unit --force ovn-central/1",
				"info LEAVE_WAITS ovn-central/2 Unit=ovn-central/1",
			},
		},
		"a unit leaves": {
			func(s *scenario) {
				dying(s, "ovn-central/2")
				s.SB = up("bb00", "bb02").Down("bb01")
				s.SB.ChangedBy = "ovn-central/2"
			},
			[]string{"warning MEMBER_DOWN sb ovn-central/1 " + machine("ovn-central/1")},
		},
		"a unit may leave": {func(s *scenario) { dying(s, "ovn-central/2") }, nil},
		"every unit is being removed, and one has stopped": {
			func(s *scenario) { every(s); s.SB = up("bb00", "bb02").Down("bb01") },
			[]string{"waiting APPLICATION_REMOVED"},
		},
		"every unit is being removed, and a majority has stopped": {
			func(s *scenario) {
				every(s)
				s.NB, s.SB = up("aa00").Down("aa01", "aa02"), serverless(ovndb.Down, "")
			},
			[]string{"waiting APPLICATION_REMOVED"},
		},
		"no database yet": {func(s *scenario) { s.NB = serverless(ovndb.Absent, "") }, []string{"waiting SERVER_DOWN nb"}},
		"joining":         {func(s *scenario) { s.SB = up("bb00").In(raft.JoiningCluster) }, []string{"waiting SERVER_JOINING sb"}},
		"leaving":         {func(s *scenario) { s.SB = s.SB.In(raft.LeavingCluster) }, []string{"waiting SERVER_LEAVING sb"}},
		"left":            {func(s *scenario) { s.SB = serverless(ovndb.Left, "") }, []string{"waiting SERVER_REMOVED sb"}},
		"standalone":      {func(s *scenario) { s.NB = serverless(ovndb.Standalone, "") }, []string{"error DATABASE_STANDALONE nb"}},
		"given up":        {func(s *scenario) { s.NB = serverless(ovndb.Failed, "") }, []string{"error SERVER_FAILED nb"}},
		"hung":            {func(s *scenario) { s.SB = serverless(ovndb.Hung, "no answer") }, []string{"error SERVER_HANGS sb"}},
		"unreadable":      {func(s *scenario) { s.SB = serverless(ovndb.Unreadable, "it is empty") }, []string{"error SERVER_UNREADABLE sb"}},
		"down, and a stale member in the other database": {
			func(s *scenario) { s.NB, s.SB = serverless(ovndb.Down, ""), s.SB.Down("13fe") },
			[]string{
				"waiting SERVER_DOWN nb",
				"warning STALE_MEMBER sb ovn-central/4 -> ovn-central/0 kick sb-identity=" + id8("13fe") + " i-really-mean-it=true",
			},
		},
		"two members have one address": {
			func(s *scenario) { s.NB = s.NB.Down("aa04"); s.NB.Rows[3].Address = observetest.Address(ovndb.NB, 2) },
			[]string{
				"warning STALE_MEMBER nb ovn-central/4 -> ovn-central/0 kick unit=ovn-central/4 i-really-mean-it=true",
				"warning SAME_ADDRESS nb aa02 (ovn-central/2) and aa04 (was ovn-central/4) Address=ssl:10.0.0.12:6643",
			},
		},
		"a server of the other database, known by its ID": {
			func(s *scenario) { s.SB.Rows = append(s.SB.Rows, observetest.Row{Identity: "aa02"}) },
			[]string{
				"warning WRONG_DATABASE sb aa02 at ssl:10.0.0.13:6644 (unknown unit) Value=OVN_Northbound, of ovn-central/2 -> ovn-central/0 kick sb-identity=" + id8("aa02") + " force=true i-really-mean-it=true",
			},
		},
		"a server of the other database, known by its port": {
			func(s *scenario) {
				s.Goal["ovn-central/3"] = "waiting"
				s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "cc03", Address: "ssl:10.0.0.13:6644"})
			},
			[]string{
				"warning WRONG_DATABASE nb cc03 at ssl:10.0.0.13:6644 (unknown unit) Value=OVN_Southbound",
				"info NOT_PUBLISHED nb sb ovn-central/3",
			},
		},
		"a newer server's texts": {
			func(s *scenario) { s.SB.Rows[1].Extra, s.SB.Unread = " (learner)", []string{"Snapshot: 7"} },
			[]string{
				`info UNKNOWN_TEXT sb bb01 (ovn-central/1) Value=" (learner)"`,
				`info UNKNOWN_TEXT sb Value="Snapshot: 7"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.JoinedBy4(t)
			test.change(&s)
			want := test.want
			if want == nil {
				want = []string{}
			}
			assert.Equal(t, want, briefs(whatIsWrong(s.Report())))
		})
	}
}

func TestStale_refused_kick_is_a_cause(t *testing.T) {
	t.Parallel()
	s := observetest.JoinedBy4(t)
	s.NB = observetest.Up("aa00", "aa04").Down("aa01")
	stale := whatIsWrong(s.Report())[0]
	require.Equal(t, finding.StaleMember, stale.Code)
	require.Len(t, stale.Causes, 1)
	assert.Equal(t, finding.KickRefused, stale.Causes[0].Code)
	assert.True(t, finding.Has(stale.Causes[0].Causes, finding.QuorumWouldBeLost))
}

func TestNumberOfMembers(t *testing.T) {
	t.Parallel()
	for n, want := range []finding.Args{1: {Count: 1}, 2: {Count: 2}, 3: {}, 4: {Count: 4, Total: 1}} {
		if n == 0 {
			continue
		}
		s := observetest.Three(t)
		s.NB = observetest.Up([]string{"aa00", "aa01", "aa02", "aa03"}[:n]...)
		var got finding.Args
		for _, f := range status.Clusters(s.Report()) {
			if f.Code == finding.FewMembers {
				got = f.Args
			}
		}
		assert.Equal(t, want, got, n)
	}
}

// A quorum is called lost only if something is known of the other units.
func TestNoQuorumNeedsPeers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*observe.Application)
		want   string
	}{
		"peers have published":             {func(*observe.Application) {}, "error NO_QUORUM nb " + recovers},
		"there are no other units":         {func(m *observe.Application) { m.Goal = goal(m.Unit) }, "error NO_QUORUM nb " + recovers},
		"Juju is silent, peers remembered": {func(m *observe.Application) { m.Goal, m.Relations = nil, nil }, "error NO_QUORUM nb " + recovers},
		"there is no relation yet": {func(m *observe.Application) {
			m.Relations, m.Published = nil, relation.UnitIdentities{m.Unit: m.Published[m.Unit]}
		}, "waiting PEERS_UNKNOWN nb"},
		"no relation and no other unit": {func(m *observe.Application) { m.Goal, m.Relations, m.Published = goal(m.Unit), nil, nil }, "waiting PEERS_UNKNOWN nb"},
		"peers have published nothing": {func(m *observe.Application) {
			m.Published = relation.UnitIdentities{m.Unit: m.Published[m.Unit], "ovn-central/1": {}}
			m.Peers = map[string]observe.Peer{"ovn-central/1": {Data: relation.Read(map[string]string{"private-address": "10.0.0.11"})}}
		}, "waiting PEERS_UNKNOWN nb"},
	} {
		s := observetest.Three(t)
		s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
		r := s.Report()
		c.change(&r.Application)
		assert.Equal(t, c.want, briefs(whatIsWrong(r))[0], name)
	}
}

// A follower that knows a leader but can ask no other server (no certificate, a closed port) does not know how
// many are up.
func TestFollowerThatCanAskNoServerDoesNotCountAllAsDown(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	c := s.Cluster(ovndb.SB, s.SB)
	c.View.Probes = nil
	c.Quorum = c.View.Quorum()
	r := s.Report()
	r.Clusters[1] = c
	all := status.Clusters(r)
	assert.NotContains(t, briefs(all), "error NO_QUORUM sb "+recovers)
}

func TestUnitOfAnotherCluster(t *testing.T) {
	t.Parallel()
	r := observetest.Three(t).Report()
	foreign := raft.ID("dd000000-0000-4000-8000-000000000000")
	r.Application.Published["ovn-central/2"][ovndb.NB] = relation.Identity{Server: observetest.Full("aa02"), Cluster: foreign}
	r.Application.Problems = []finding.Finding{finding.New(finding.JujuUnread, finding.Subject{}, finding.Args{})}
	assert.Equal(t, []string{
		"error CLUSTER_ELSEWHERE nb Unit=ovn-central/2 Cluster=" + foreign.Brief() + " Other=" + observetest.Cluster(ovndb.NB).Brief(),
		"info JUJU_UNREAD",
	}, briefs(status.Clusters(r)))
}
