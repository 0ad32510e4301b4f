package status_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// specification is the status that the specification of cluster-status shows, as
// ovsdb-server prints it.
const specification = `f3be
Name: OVN_Southbound
Cluster ID: 77eb (77eb6ddc-6910-403b-b8da-ce3d90815183)
Server ID: f3be (f3be898b-e8e4-4719-b344-902444227dd7)
Address: ssl:10.5.1.88:6644
Status: cluster member
Role: follower
Term: 8
Leader: d33d
Vote: d33d

Election timer: 4000
Log: [25, 25]
Entries not yet committed: 0
Entries not yet applied: 0
Connections: ->9ea4 ->fbfc <-fbfc <-9ea4 <-d33d ->d33d
Disconnections: 4
Servers:
    d33d (d33d at ssl:10.5.0.92:6644) last msg 839 ms ago
    9ea4 (9ea4 at ssl:10.5.3.144:6644) last msg 81662711 ms ago
    fbfc (fbfc at ssl:10.5.1.86:6644) last msg 1221658 ms ago
    f3be (f3be at ssl:10.5.1.88:6644) (self)
`

func TestTextIsThatOfTheSpecification(t *testing.T) {
	parsed, err := raft.Parse(specification)
	require.NoError(t, err)
	model := observe.Application{
		Unit:      "ovn-central/3",
		Goal:      map[string]juju.UnitGoal{"ovn-central/0": {}, "ovn-central/1": {Status: "dying"}, "ovn-central/3": {}},
		Published: relation.UnitIdentities{"ovn-central/0": {ovndb.SB: {Server: "d33d"}}, "ovn-central/1": {ovndb.SB: {Server: "9ea4"}}},
		History:   relation.History{ovndb.SB: {"fbfc0000-0000-4000-8000-000000000000": {Unit: "ovn-central/2"}}},
	}
	c := observe.Cluster{
		ServerState: observe.ServerState{Database: ovndb.SB, Condition: ovndb.Serving, Status: parsed},
		View:        raft.View{Status: parsed},
	}
	for _, p := range c.View.Peers() {
		o := model.Owner(ovndb.SB, p)
		c.Rows = append(c.Rows, observe.Row{Peer: p, Owner: o, Leaving: model.Dying(o.Unit)})
	}
	servers := strings.Index(specification, "    d33d")
	assert.Equal(t, specification[:servers]+strings.Join([]string{
		"    d33d (d33d at ssl:10.5.0.92:6644) ovn-central/0",
		"    9ea4 (9ea4 at ssl:10.5.3.144:6644) ovn-central/1 (leaving)",
		"    fbfc (fbfc at ssl:10.5.1.86:6644) UNKNOWN (was ovn-central/2)",
		"    f3be (f3be at ssl:10.5.1.88:6644) (self) UNKNOWN",
	}, "\n"), document.Cluster(c))
	assert.Contains(t, parsed.String(), "last msg 839 ms ago", "the status itself is as it was")
}

func TestTextKeepsWhatANewerServerAdds(t *testing.T) {
	s := observetest.Three(t)
	s.NB.Rows[1].Extra = " (learner)"
	s.NB.Unread = []string{"Snapshot: 7"}
	text := document.Cluster(s.Report().Clusters[0])
	assert.Contains(t, text, "match_index=11 (learner) ovn-central/1\n")
	assert.Contains(t, text, "Snapshot: 7")
}

func TestTextOfADatabaseThatIsNotServedSaysWhatItIs(t *testing.T) {
	s := observetest.Three(t)
	s.SB = observetest.Members{Condition: ovndb.Absent}
	assert.Equal(t, "OVN_Southbound: there is no database file, and no server runs", document.Cluster(s.Report().Clusters[1]))
}

func TestFaultTolerance(t *testing.T) {
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		text     string
	}{
		"three up":                               {func(*observetest.Scenario) {}, "nb: 1 more of 3 members may fail (3 up); sb: 1 more of 3 members may fail (3 up)"},
		"one down":                               {func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01").Down("aa02") }, "nb: 0 more of 3 members may fail (2 up); sb: 1 more of 3 members may fail (3 up)"},
		"no quorum":                              {func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff() }, "nb: no quorum as seen from this unit (1 of 3 members answer; none from ovn-central/1, ovn-central/2); sb: 1 more of 3 members may fail (3 up)"},
		"an election":                            {func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Searching("aa01").Down("aa02").CutOff() }, "nb: not known (a leader is being elected; 2 of 3 members answer); sb: 1 more of 3 members may fail (3 up)"},
		"sole":                                   {func(s *observetest.Scenario) { s.NB = observetest.Up("aa00") }, "nb: 0 more of 1 members may fail (1 up); sb: 1 more of 3 members may fail (3 up)"},
		"sole, and its disk is full":             {func(s *observetest.Scenario) { s.NB = observetest.Up("aa00"); s.NB.Full = true }, "nb: 0 more of 1 members may fail (0 up); sb: 1 more of 3 members may fail (3 up)"},
		"one down, and this unit's disk is full": {func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01").Down("aa02"); s.NB.Full = true }, "nb: 0 more of 3 members may fail (1 up); sb: 1 more of 3 members may fail (3 up)"},
		"joining": {func(s *observetest.Scenario) {
			s.SB = observetest.Members{State: raft.JoiningCluster, Role: raft.Follower}
		}, "nb: 1 more of 3 members may fail (3 up); sb: not known (joining)"},
		"one not here": {func(s *observetest.Scenario) { s.NB = observetest.Members{Condition: ovndb.Down} }, "nb: not known (down); sb: 1 more of 3 members may fail (3 up)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			test.scenario(&s)
			assert.Equal(t, test.text, strings.Join(status.Tolerance(s.Report()), "; "))
		})
	}
}

func TestWarningsTellWhatIsWrongApart(t *testing.T) {
	tests := map[string]struct {
		scenario func(s *observetest.Scenario)
		warnings []string
	}{
		"nothing": {func(*observetest.Scenario) {}, nil},
		"a stale member that is down": {
			func(s *observetest.Scenario) { s.NB = s.NB.Down("aa04") },
			[]string{
				"nb: aa04 at ssl:10.0.0.13:6643, UNKNOWN (was ovn-central/4), is down: its last message is 3600.0 s old, election timer 4.0 s",
				"nb: aa04 at ssl:10.0.0.13:6643, UNKNOWN (was ovn-central/4), is stale: it belongs to no unit of the model",
				"nb: 4 members; an even number tolerates no more failures than 3",
			},
		},
		"a stale member that is up": {
			func(s *observetest.Scenario) {
				s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04", Address: "ssl:10.0.0.14:6643"})
			},
			[]string{
				"nb: aa04 at ssl:10.0.0.14:6643, UNKNOWN (was ovn-central/4), is stale: it belongs to no unit of the model; " +
					"it is up: its servers and its ovn-northd keep running until its machine is off",
				"nb: 4 members; an even number tolerates no more failures than 3",
			},
		},
		"a stale and a new member at one address": {
			func(s *observetest.Scenario) {
				s.NB = s.NB.Down("aa04")
				s.NB.Rows[3].Address = observetest.Address(ovndb.NB, 2)
			},
			[]string{
				"nb: aa04 at ssl:10.0.0.12:6643, UNKNOWN (was ovn-central/4), is down: its last message is 3600.0 s old, election timer 4.0 s",
				"nb: aa04 at ssl:10.0.0.12:6643, UNKNOWN (was ovn-central/4), is stale: it belongs to no unit of the model",
				"nb: two members have the address ssl:10.0.0.12:6643: aa02 (ovn-central/2) and aa04 (UNKNOWN (was ovn-central/4))",
				"nb: 4 members; an even number tolerates no more failures than 3",
			},
		},
		"a member of the wrong database, known by its ID": {
			func(s *observetest.Scenario) { s.SB.Rows = append(s.SB.Rows, observetest.Row{Identity: "aa02"}) },
			[]string{
				"sb: aa02 at ssl:10.0.0.13:6644, UNKNOWN, is a server of OVN_Northbound, of ovn-central/2: it votes here and holds nothing",
				"sb: 4 members; an even number tolerates no more failures than 3",
			},
		},
		"a member of the wrong database, known by its port": {
			func(s *observetest.Scenario) {
				s.Goal["ovn-central/3"] = "waiting"
				s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "cc03", Address: "ssl:10.0.0.13:6644"})
			},
			[]string{
				"nb: cc03 at ssl:10.0.0.13:6644, UNKNOWN, is a server of OVN_Southbound: it votes here and holds nothing",
				"nb: 4 members; an even number tolerates no more failures than 3",
				"ovn-central/3 has published no nb and no sb identity",
			},
		},
		"a unit that has yet to publish one identity": {
			func(s *observetest.Scenario) { s.Published["ovn-central/2"] = [2]string{"aa02", ""} },
			[]string{"ovn-central/2 has published no sb identity"},
		},
		"too few members": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00", "aa01") },
			[]string{"nb: 2 members; fewer than 3 tolerate no failure"},
		},
		"no quorum, of which nobody is named as dead": {
			func(s *observetest.Scenario) { s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff() },
			[]string{"nb: no quorum; run: juju run ovn-central/0 recover dry-run=true (1 of 3 members answer; none from ovn-central/1, ovn-central/2)"},
		},
		"a database that is not served": {
			func(s *observetest.Scenario) {
				s.SB = observetest.Members{Condition: ovndb.Hung, Err: errors.New("server does not answer within 5s")}
			},
			[]string{"sb: the server hangs: server does not answer within 5s"},
		},
		"something new": {
			func(s *observetest.Scenario) { s.SB.Rows[1].Extra, s.SB.Unread = " (learner)", []string{"Snapshot: 7"} },
			[]string{
				`sb: bb01 at ssl:10.0.0.11:6644, ovn-central/1, has text in its line that this charm does not know: " (learner)"`,
				`sb: ovsdb-server reports a line that this charm does not know: "Snapshot: 7"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			s.History = map[ovndb.Database]map[string]string{ovndb.NB: {"aa04": "ovn-central/4"}}
			test.scenario(&s)
			assert.Equal(t, test.warnings, status.Warnings(s.Report()))
		})
	}
}

func TestWarningsNameAUnitInAnotherCluster(t *testing.T) {
	s := observetest.Three(t)
	r := s.Report()
	foreign := raft.ID("dd000000-0000-4000-8000-000000000000")
	r.Application.Published["ovn-central/2"][ovndb.NB] = relation.Identity{Server: observetest.Full("aa02"), Cluster: foreign}
	assert.Equal(t, []string{
		"nb: ovn-central/2 is in another cluster, " + foreign.Brief() + "; this unit's is " + observetest.Cluster(ovndb.NB).Brief(),
	}, status.Warnings(r))
}

// After a recovery a unit that was given up, or has not joined yet, is no second cluster.
func TestUnitOfAClusterThatWasGivenUpIsToJoinOrToBeRemoved(t *testing.T) {
	s := observetest.Three(t)
	r := s.Report()
	old := raft.ID("dd000000-0000-4000-8000-000000000000")
	for i := range r.Clusters {
		r.Clusters[i].View.Superseded = []raft.ID{old}
	}
	r.Application.Published["ovn-central/2"][ovndb.NB] = relation.Identity{Server: observetest.Full("aa02"), Cluster: old}
	told := "not in the new cluster yet; if lost: juju remove-unit --force ovn-central/2"
	assert.Equal(t, []string{told}, status.Warnings(r))
	summary := status.Summarize(r, true)
	assert.Equal(t, juju.Active, summary.Word)
	assert.Equal(t, told, summary.Problem)

	r.Application.Published["ovn-central/1"][ovndb.SB] = relation.Identity{Server: observetest.Full("bb01"), Cluster: old}
	assert.Equal(t, "not in the new cluster yet; if lost: juju remove-unit --force ovn-central/1 ovn-central/2", status.Summarize(r, true).Problem)
}

// What peers published late is no evidence that they are lost.
func TestUnitsOfTheOldCluster(t *testing.T) {
	old := raft.ID("dd000000-0000-4000-8000-000000000000")
	for name, c := range map[string]struct {
		change func(r *observe.Report)
		told   string
	}{
		"the cluster was just made": {func(*observe.Report) {}, "not in the new cluster yet: ovn-central/2"},
		"it is given up": {func(r *observe.Report) {
			r.Clusters[0].View.GivenUp = []string{"ovn-central/2"}
		}, "not in the new cluster yet; if lost: juju remove-unit --force ovn-central/2"},
		"another is given up": {func(r *observe.Report) { r.Clusters[0].View.GivenUp = []string{"ovn-central/4"} }, "not in the new cluster yet: ovn-central/2"},
		"the cluster was made earlier": {func(r *observe.Report) {
			r.Clusters[0].View.MadeAt = r.At.Add(-10 * time.Minute)
		}, "not in the new cluster yet; if lost: juju remove-unit --force ovn-central/2"},
		"a member is at its address": {func(r *observe.Report) {
			r.Application.Peers = map[string]observe.Peer{"ovn-central/2": {State: relation.UnitState{Address: netip.MustParseAddr("10.0.0.12")}}}
			r.Clusters[0].View.GivenUp = []string{"ovn-central/2"}
		}, ""},
		"members are elsewhere": {func(r *observe.Report) {
			r.Application.Peers = map[string]observe.Peer{"ovn-central/2": {State: relation.UnitState{Address: netip.MustParseAddr("10.0.0.19")}}}
		}, "not in the new cluster yet: ovn-central/2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			r := s.Report()
			for i := range r.Clusters {
				r.Clusters[i].View.Superseded, r.Clusters[i].View.MadeAt = []raft.ID{old}, r.At
			}
			r.Application.Published["ovn-central/2"][ovndb.NB] = relation.Identity{Server: observetest.Full("aa02"), Cluster: old}
			c.change(&r)
			assert.Equal(t, c.told, status.Summarize(r, true).Problem)
		})
	}
}

// S5: all units are in this unit's cluster, and none is to be removed.
func TestClusterThatNamesItself(t *testing.T) {
	s := observetest.Three(t)
	r := s.Report()
	r.Clusters[0].View.SupersedesItself = true
	told := []string{"nb: the database names its own cluster as replaced (ignored; external_ids:ovn-central:superseded of NB_Global)"}
	assert.Equal(t, told, status.Warnings(r))
	summary := status.Summarize(r, true)
	assert.Equal(t, juju.Active, summary.Word)
	assert.Equal(t, told[0], summary.Problem)
	assert.Equal(t, []string{`juju ssh ovn-central/0 "sudo ovn-nbctl --no-leader-only remove NB_Global . external_ids '\"ovn-central:superseded\"'"`}, status.Next(r))

	r = s.Report()
	for i := range r.Clusters { // as if it had taken the list for true
		r.Clusters[i].View.Superseded = []raft.ID{observetest.Cluster(r.Clusters[i].Database)}
	}
	assert.NotContains(t, strings.Join(status.Warnings(r), "; "), "ovn-central/0", "a unit never has itself removed")
}

func TestWarningsIncludeWhatIsWrongWithTheModel(t *testing.T) {
	s := observetest.Three(t)
	r := s.Report()
	r.Application.Problems = []string{"cannot read goal state: goal-state: program not found"}
	assert.Equal(t, r.Application.Problems, status.Warnings(r))
}
