package status_test

import (
	"errors"
	"slices"
	"strings"
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

// briefs returns findings without their reasons, which TestClusters_reasons checks, and without their causes. One test
// checks the number of members.
func briefs(all []finding.Finding) []string {
	texts := []string{}
	for _, f := range all {
		if f.Code == finding.FewMembers {
			continue
		}
		f.Args.Detail, f.Args.Reasons, f.Causes = finding.Words{}, nil, nil
		texts = append(texts, findingtest.Brief(f))
	}
	return texts
}

// findingsOf returns the findings about the application's clusters and this unit's servers.
func findingsOf(r observe.Report) []finding.Finding {
	return finding.Sort(append(status.Own(r), status.Clusters(r)...))
}

type scenario = observetest.Scenario

// change modifies a scenario.
type change = func(*scenario)

// all combines several changes.
func all(changes ...change) change {
	return func(s *scenario) {
		for _, change := range changes {
			change(s)
		}
	}
}

// dying makes Juju remove units.
func dying(units ...string) change {
	return func(s *scenario) {
		for _, unit := range units {
			s.Goal[unit] = "dying"
		}
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

// The remedies of a lost quorum: no other unit is known, both may be lost, or both machines are on.
const (
	recovers     = "-> ovn-central/0 recover dry-run=true"
	starts       = " -> " + string(finding.StartMachine)
	startsBoth   = starts + " {unit=ovn-central/1, ovn-central/2}"
	quorumLost   = startsBoth + " -> IF_LOST_AND_OFF: ovn-central/0 recover dry-run=true {unit=ovn-central/1, ovn-central/2}"
	quorumAwaits = " -> IF_THIS_LASTS: ovn-central/1 restart-services services=ovn-ovsdb-server-nb {unit=ovn-central/1}" +
		" -> IF_THIS_LASTS: ovn-central/2 restart-services services=ovn-ovsdb-server-nb {unit=ovn-central/2}" +
		" -> IF_THIS_LASTS: ovn-central/0 recover dry-run=true"
)

// id8 returns an ID in brief form.
func id8(identity string) string { return observetest.Full(identity).Brief() }

func TestClusters(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	nb := func(m observetest.Members) change { return func(s *scenario) { s.NB = m } }
	sb := func(m observetest.Members) change { return func(s *scenario) { s.SB = m } }
	// kick returns the command for members of a former unit: by the unit's name or by an ID.
	kick := func(target string) string { return " -> ovn-central/0 kick " + target + " i-really-mean-it=true" }
	off := func(target string) string {
		return " -> " + string(finding.PowerOff) + " -> ONCE_MACHINE_OFF:" + strings.TrimPrefix(kick(target), " ->")
	}
	const kicks = " " + string(finding.KickLeftovers)
	lost := func(unit string) string {
		return " -> IF_LOST: remove-unit --force " + unit + " add-unit ovn-central" + kicks
	}
	down := func(dbs, unit string) string {
		return "warning MEMBER_DOWN " + dbs + " " + unit + " Unit=" + unit + starts + lost(unit)
	}
	// on returns a finding about a unit whose machine is on: its other server answers.
	on := func(db, unit string) string {
		return "warning MEMBER_DOWN " + db + " " + unit + " Unit=" + unit +
			" -> IF_THIS_LASTS: " + unit + " restart-services services=ovn-ovsdb-server-" + db
	}
	dyingDown := func(dbs, unit string) string { return strings.Replace(down(dbs, unit), " add-unit ovn-central", "", 1) }
	const (
		u1, u2, was = "ovn-central/1", "ovn-central/2", "unit=ovn-central/4"
		staleNB     = "warning STALE_MEMBER nb ovn-central/4"
		staleSB     = "warning STALE_MEMBER sb ovn-central/4"
		staleBoth   = "warning STALE_MEMBER nb sb ovn-central/4"
		blocked     = "warning LEAVE_BLOCKED ovn-central/2"
		gone        = "waiting APPLICATION_REMOVED"
		openPort    = " -> " + string(finding.OpenPort)
		unknownNB   = "aa04 at ssl:10.0.0.13:6643 (unknown unit)"
		unknownSB   = "13fe at ssl:10.0.0.13:6644 (unknown unit)"
		wrong       = "warning WRONG_DATABASE "
	)
	noNB, noSB := up("aa00").Down("aa01", "aa02").CutOff(), up("bb00").Down("bb01", "bb02").CutOff()
	cutOffNB, cutOffSB := up("aa00", "aa01", "aa02").CutOff(), up("bb00", "bb01", "bb02").CutOff()
	staleUp := func(s *scenario) { s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"}) }
	sbStale, nbStale := func(s *scenario) { s.SB = s.SB.Down("13fe") }, func(s *scenario) { s.NB = s.NB.Down("aa04") }
	changing := func(by string) change {
		return func(s *scenario) {
			s.SB = up("bb00", "bb02").Down("bb01")
			s.SB.ChangedBy = by
		}
	}
	for name, test := range map[string]struct {
		change change
		want   []string
	}{
		"healthy": {func(*scenario) {}, nil},
		"unit down": {
			all(nb(up("aa00", "aa01").Down("aa02")), sb(up("bb00", "bb01").Down("bb02"))), []string{down("nb sb", u2)},
		},
		"server down": {nb(up("aa00", "aa01").Down("aa02")), []string{on("nb", u2)}},
		"dying unit, its server has left": { // its hook stop runs, so there is nothing to type
			all(dying(u2), nb(up("aa00", "aa01").Down("aa02"))),
			[]string{"warning MEMBER_DOWN nb " + u2 + " Unit=" + u2 + " -> " + string(finding.AwaitRemoval)},
		},
		"dying unit down": {
			all(dying(u2), nb(up("aa00", "aa01").Down("aa02")), sb(up("bb00", "bb01").Down("bb02"))),
			[]string{
				blocked + starts + " {unit=ovn-central/2} -> IF_LOST: remove-unit --force " + u2 + kicks + " {unit=ovn-central/2}",
				dyingDown("nb sb", u2),
			},
		},
		"stale":       {sbStale, []string{staleSB + kick(was)}},
		"stale, both": {all(nbStale, sbStale), []string{staleBoth + kick(was)}},
		"stale, up":   {staleUp, []string{staleNB + off(was)}},
		"stale, up, lost log": {
			all(staleUp, func(s *scenario) { s.NB.Lost = []string{"aa04"} }), []string{staleNB + off(was)},
		},
		"stale, of two units": {all(nbStale, func(s *scenario) {
			s.History[ovndb.SB]["13ff"] = "ovn-central/5"
			s.SB = s.SB.Down("13ff")
		}), []string{staleNB + kick(was), "warning STALE_MEMBER sb ovn-central/5" + kick("sb-identity="+id8("13ff"))}},
		"stale, unknown units": {all(nbStale, sbStale, func(s *scenario) { s.History = nil }), []string{
			"warning STALE_MEMBER nb " + unknownNB + kick("nb-identity=aa04"),
			"warning STALE_MEMBER sb " + unknownSB + kick("sb-identity=13fe"),
		}},
		"stale, up, needed": {
			nb(up("aa00", "aa01", "aa04").Down("aa02")), []string{staleNB + kick(was+" force=true"), on("nb", u2)},
		},
		"stale, one kick refused": {
			all(nb(up("aa00", "aa04").Down("aa01")), sbStale),
			[]string{staleBoth + kick("sb-identity="+id8("13fe")), on("nb", u1)},
		},
		"stale, removal pending": {
			all(nbStale, func(s *scenario) { s.NB.Rows[1].Phase = raft.RemovingPhase }), []string{staleNB},
		},
		"stale, this unit dying": {
			all(dying("ovn-central/0"), sbStale), []string{staleSB + strings.Replace(kick(was), "/0", "/1", 1)},
		},
		"stale, here down": {
			all(nb(serverless(ovndb.Down, "")), sbStale),
			[]string{staleSB + kick("sb-identity="+id8("13fe")), "waiting SERVER_DOWN nb -> BEFORE_ITS_NEXT_HOOK: ovn-central/0 resume"},
		},
		"not published": {all(sbStale, func(s *scenario) { s.Goal["ovn-central/5"] = "waiting" }), []string{
			"warning MEMBER_DOWN sb ovn-central/4 -> " + string(finding.FindOwner) + " {unit=13fe (was ovn-central/4)}",
			"info NOT_PUBLISHED nb sb ovn-central/5",
		}},
		"no quorum":         {nb(noNB), []string{"error NO_QUORUM nb" + quorumAwaits}},
		"no quorum, leader": {nb(up("aa00").Down("aa01", "aa02")), []string{"error NO_QUORUM nb" + quorumAwaits}},
		"no quorum, both":   {all(nb(noNB), sb(noSB)), []string{"error NO_QUORUM nb sb" + quorumLost}},
		"no quorum, other absent": {
			all(nb(serverless(ovndb.Absent, "")), sb(noSB)),
			[]string{"error NO_QUORUM sb" + quorumLost, "waiting SERVER_DOWN nb"},
		},
		"server of a former unit": {nb(serverless(ovndb.Former, "of ovn-central/7")), []string{"waiting SERVER_REMOVED nb"}},
		"election": {
			nb(up("aa00").Searching("aa01").Down("aa02").CutOff()), []string{"waiting ELECTING nb Count=2 Total=3"},
		},
		"election, leader silent": {
			nb(up("aa00", "aa02").Down("aa01").Following("aa01")), []string{"waiting ELECTING nb Count=2 Total=3"},
		},
		"cut off": {nb(cutOffNB), []string{"waiting CUT_OFF nb Value=port 6643 Count=2 Total=3" + openPort}},
		"cut off, both": {
			all(nb(cutOffNB), sb(cutOffSB)),
			[]string{"waiting CUT_OFF nb sb Value=ports 6643 and 6644 Count=2 Total=3" + openPort},
		},
		"client ports closed": {
			nb(up("aa00").Closed("aa01", "aa02").Following("aa01")), []string{"waiting MAJORITY_UNSEEN nb Count=1 Total=3"},
		},
		"dying unit leaves":    {all(dying(u2), changing(u2)), []string{on("sb", u1)}},
		"dying unit may leave": {dying(u2), nil},
		"dying unit, other leaves": {
			all(dying(u1, u2), changing(u1)), []string{
				"warning MEMBER_DOWN sb " + u1 + " Unit=" + u1 + " -> " + string(finding.AwaitRemoval),
				"info LEAVE_WAITS ovn-central/2 Unit=ovn-central/1",
			},
		},
		"leave blocked, stale": {all(dying(u2), sb(up("bb00", "bb02").Down("13fe")), func(s *scenario) {
			s.Published = map[string][2]string{"ovn-central/0": {"aa00", "bb00"}, u2: {"aa02", "bb02"}}
			delete(s.Goal, u1)
			s.History[ovndb.NB]["aa01"] = u1
		}), []string{
			blocked + kick(was), "warning STALE_MEMBER nb ovn-central/1" + off("nb-identity="+id8("aa01")), staleSB + kick(was),
		}},
		"leave blocked, unit down": { // its server of the other database is up
			all(dying(u2), sb(up("bb00", "bb02").Down("bb01"))),
			[]string{
				blocked + " -> IF_THIS_LASTS: ovn-central/1 restart-services services=ovn-ovsdb-server-sb {unit=ovn-central/1}",
				on("sb", u1),
			},
		},
		"leaves blocked, this too": {
			all(
				dying("ovn-central/0", u1), nb(up("aa00", "aa01").Down("aa02")),
				sb(up("bb00", "bb01").Down("bb02").Following("bb01")),
			),
			[]string{
				"warning LEAVE_BLOCKED ovn-central/0" + starts + " {unit=ovn-central/2}" + lost(u2) + " {unit=ovn-central/2}",
				"warning LEAVE_BLOCKED ovn-central/1" + starts + " {unit=ovn-central/2}" + lost(u2) + " {unit=ovn-central/2}",
				down("nb sb", u2),
			},
		},
		"all dying, one stopped": {all(every, sb(up("bb00", "bb02").Down("bb01"))), []string{gone}},
		"all dying, two stopped": {
			all(every, nb(up("aa00").Down("aa01", "aa02")), sb(serverless(ovndb.Down, ""))), []string{gone},
		},
		"absent":        {nb(serverless(ovndb.Absent, "")), []string{"waiting SERVER_DOWN nb"}},
		"server joins":  {sb(up("bb00").In(raft.JoiningCluster)), []string{"waiting SERVER_JOINING sb"}},
		"server leaves": {sb(up("bb00").In(raft.LeavingCluster)), []string{"waiting SERVER_LEAVING sb"}},
		"left":          {sb(serverless(ovndb.Left, "")), []string{"waiting SERVER_REMOVED sb"}},
		"standalone":    {nb(serverless(ovndb.Standalone, "")), []string{"error DATABASE_STANDALONE nb"}},
		"failed":        {nb(serverless(ovndb.Failed, "")), []string{"error SERVER_FAILED nb"}},
		"hung":          {sb(serverless(ovndb.Hung, "no answer")), []string{"error SERVER_HANGS sb"}},
		"unreadable":    {sb(serverless(ovndb.Unreadable, "it is empty")), []string{"error SERVER_UNREADABLE sb"}},
		"two at one address": {all(nbStale, func(s *scenario) {
			s.NB.Rows[3].Address = observetest.Address(ovndb.NB, 2)
		}), []string{
			staleNB + kick(was),
			"warning SAME_ADDRESS nb aa02 (ovn-central/2) and aa04 (was ovn-central/4) Address=ssl:10.0.0.12:6643",
		}},
		"wrong database by ID": {
			func(s *scenario) { s.SB.Rows = append(s.SB.Rows, observetest.Row{Identity: "aa02"}) },
			[]string{wrong + "sb aa02 at ssl:10.0.0.13:6644 (unknown unit) Value=OVN_Northbound, of ovn-central/2" +
				kick("sb-identity="+id8("aa02")+" force=true")},
		},
		"wrong database by port, down": {func(s *scenario) {
			s.SB.Rows = append(s.SB.Rows, observetest.Row{Identity: "cc03", Address: "ssl:10.0.0.13:6643", Down: true})
		}, []string{wrong + "sb cc03 at ssl:10.0.0.13:6643 (unknown unit) Value=OVN_Northbound" + kick("sb-identity=cc03")}},
		"wrong database by port": {func(s *scenario) {
			s.Goal["ovn-central/3"] = "waiting"
			s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "cc03", Address: "ssl:10.0.0.13:6644"})
		}, []string{
			wrong + "nb cc03 at ssl:10.0.0.13:6644 (unknown unit) Value=OVN_Southbound",
			"info NOT_PUBLISHED nb sb ovn-central/3",
		}},
		"newer server": {
			func(s *scenario) { s.SB.Rows[1].Extra, s.SB.Unread = " (learner)", []string{"Snapshot: 7"} },
			[]string{`info UNKNOWN_TEXT sb bb01 (ovn-central/1) Value=" (learner)"`, `info UNKNOWN_TEXT sb Value="Snapshot: 7"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.JoinedBy4(t)
			test.change(&s)
			assert.Equal(t, append([]string{}, test.want...), briefs(findingsOf(s.Report())))
		})
	}
}

func TestClusters_reasons(t *testing.T) {
	t.Parallel()
	up := observetest.Up
	stale := func(s *scenario) {
		s.NB.Rows, s.SB = append(s.NB.Rows, observetest.Row{Identity: "aa04"}), s.SB.Down("13fe")
	}
	for name, test := range map[string]struct {
		change change
		code   finding.Code
		want   string
	}{
		"member down": {
			func(s *scenario) { s.NB = up("aa00", "aa01").Down("aa02") }, finding.MemberDown,
			"MEMBER_IS aa02 at ssl:10.0.0.12:6643 (MEMBER_SILENT 1h0m0s 4s)",
		},
		"stale, one up": {
			stale, finding.StaleMember,
			"STILL_RUNS nb aa04 at ssl:10.0.0.13:6643; IS_DOWN sb 13fe at ssl:10.0.0.13:6644",
		},
		"no quorum": {
			func(s *scenario) { s.NB = up("aa00").Down("aa01", "aa02").CutOff() }, finding.NoQuorum,
			"MEMBERS_ANSWER 1 3; MEMBERS_SILENT ovn-central/1, ovn-central/2",
		},
		"client ports closed": {
			func(s *scenario) { s.NB = up("aa00").Closed("aa01", "aa02").Following("aa01") }, finding.MajorityUnseen,
			"MEMBER_IS ovn-central/1 (NO_ANSWER)",
		},
		"absent":     {func(s *scenario) { s.NB = serverless(ovndb.Absent, "") }, finding.ServerDown, "NO_DATABASE_YET"},
		"hung":       {func(s *scenario) { s.NB = serverless(ovndb.Hung, "no answer") }, finding.ServerHangs, ""},
		"unreadable": {func(s *scenario) { s.NB = serverless(ovndb.Unreadable, "it is empty") }, finding.ServerUnreadable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := observetest.JoinedBy4(t)
			test.change(&s)
			found := findingsOf(s.Report())
			at := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Code == test.code })
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, test.want, findingtest.Reasons(found[at].Args.Reasons...))
			assert.Equal(t, test.want == "", found[at].Args.Detail.String() != "", "another program's text")
		})
	}
}

func TestStale_refused_kick_is_a_cause(t *testing.T) {
	t.Parallel()
	s := observetest.JoinedBy4(t)
	s.NB = observetest.Up("aa00", "aa04").Down("aa01")
	stale := findingsOf(s.Report())[0]
	require.Equal(t, finding.StaleMember, stale.Code)
	require.Len(t, stale.Causes, 1)
	assert.Equal(t, finding.KickRefused, stale.Causes[0].Code)
	assert.True(t, finding.Has(stale.Causes[0].Causes, finding.QuorumWouldBeLost))
}

func TestClusters_few_members(t *testing.T) {
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

// Another unit makes a cluster of two tolerate a failure: a paused one that is no member yet, or a new one.
func TestClusters_few_members_remedy(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.NB = observetest.Up("aa00", "aa01")
	r := s.Report()
	few := func() []string {
		others := func(f finding.Finding) bool { return f.Code != finding.FewMembers }
		return findingtest.All(slices.DeleteFunc(status.Clusters(r), others))
	}
	const of = "info FEW_MEMBERS nb Count=2 -> "
	assert.Equal(t, []string{of + "add-unit ovn-central"}, few())
	r.Application.Peers = map[string]observe.Peer{"ovn-central/2": {State: relation.UnitState{Paused: true}}}
	assert.Equal(t, []string{of + "ovn-central/2 resume"}, few())
	r.Application.Unread = errors.New("no answer")
	assert.Equal(t, []string{"info FEW_MEMBERS nb Count=2"}, few(), "there may be more units")
}

func TestClusters_unit_of_other_cluster(t *testing.T) {
	t.Parallel()
	r := observetest.Three(t).Report()
	foreign := raft.ID("dd000000-0000-4000-8000-000000000000")
	r.Application.Published["ovn-central/2"][ovndb.NB] = relation.Identity{
		Server: observetest.Full("aa02"), Cluster: foreign,
	}
	r.Application.Problems = []finding.Finding{finding.New(finding.JujuUnread, finding.Subject{}, finding.Args{})}
	assert.Equal(t, []string{
		"error CLUSTER_ELSEWHERE nb Unit=ovn-central/2 Cluster=dd000000 Other=" + observetest.Cluster(ovndb.NB).Brief(),
		"info JUJU_UNREAD",
	}, briefs(status.Clusters(r)))
}
