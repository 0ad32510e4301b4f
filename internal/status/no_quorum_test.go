package status_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// R4: of several units that are removed at once the leader's leave takes an election
// timer; meanwhile a good member is not to be kicked.
func TestNoKickIsPrintedWhileTheLeaderLeaves(t *testing.T) {
	m := observe.Application{Unit: "ovn-central/0", Goal: map[string]juju.UnitGoal{"ovn-central/0": {Status: "dying"}, "ovn-central/1": {Status: "active"}}}
	follower := observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: raft.Status{Role: raft.Follower, Leader: "aa01", State: raft.ClusterMember, Server: "aa00"}}
	assert.Equal(t, []string{"wait: the leader is leaving, or an election is under way"}, status.NoQuorumRemediation(m, follower))
	alone := follower
	alone.Status.Role, alone.Status.Leader = raft.Candidate, ""
	ways := status.NoQuorumRemediation(m, alone)
	assert.Contains(t, ways[0], "this unit is cut off: ")
	assert.Contains(t, ways[0], "kick nb-identity=aa00")
}

// A quorum is called lost only if something is known of the other units.
func TestNoQuorumNeedsPeers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*observe.Application)
		lost   bool
	}{
		"peers have published":                     {func(*observe.Application) {}, true},
		"there are no other units":                 {func(m *observe.Application) { m.Goal = map[string]juju.UnitGoal{m.Unit: {}} }, true},
		"Juju is silent, and peers are remembered": {func(m *observe.Application) { m.Goal, m.Relations = nil, nil }, true},
		"there is no relation yet": {func(m *observe.Application) {
			m.Relations, m.Published = nil, relation.UnitIdentities{m.Unit: m.Published[m.Unit]}
		}, false},
		"there is no relation yet, and no other unit": {func(m *observe.Application) {
			m.Goal, m.Relations, m.Published = map[string]juju.UnitGoal{m.Unit: {}}, nil, nil
		}, false},
		"peers have published nothing": {func(m *observe.Application) {
			m.Published = relation.UnitIdentities{m.Unit: m.Published[m.Unit], "ovn-central/1": {}}
			m.Peers = map[string]observe.Peer{"ovn-central/1": {Data: relation.Read(map[string]string{"private-address": "10.0.0.11"})}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := observetest.Three(t)
			s.NB = observetest.Up("aa00").Down("aa01", "aa02").CutOff()
			r := s.Report()
			c.change(&r.Application)
			word := juju.Waiting
			if c.lost {
				word = juju.Blocked
			}
			assert.Equal(t, word, status.Summarize(r, false).Word)
			recovers := slices.ContainsFunc(slices.Concat(status.Next(r), status.Warnings(r), status.Tolerance(r)),
				func(line string) bool {
					return strings.Contains(line, " recover ") || strings.Contains(line, "no quorum")
				})
			assert.Equal(t, c.lost, recovers)
		})
	}
}

// What the server of a unit that was on the machine before sees says nothing of the application.
func TestServerOfAFormerUnit(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Members{Condition: ovndb.Former, Err: errors.New("of ovn-central/7")}
	r := s.Report()
	summary := status.Summarize(r, true)
	assert.Equal(t, juju.Waiting, summary.Word)
	assert.Empty(t, status.Next(r))
}

// A unit that is being removed makes no new cluster: it names one that stays and is there, or else what keeps its data.
func TestLostQuorumIsNotToBeRecoveredOnAUnitThatIsBeingRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		goal  map[string]string
		heard []string
		want  string
	}{
		"it stays":                 {map[string]string{"ovn-central/1": "active"}, nil, "juju run ovn-central/0 recover dry-run=true"},
		"another stays, is heard":  {map[string]string{"ovn-central/0": "dying", "ovn-central/1": "active"}, []string{"aa01"}, "juju run ovn-central/1 recover dry-run=true"},
		"another stays, is silent": {map[string]string{"ovn-central/0": "dying", "ovn-central/1": "active"}, nil, "juju run ovn-central/0 backup"},
		"the one that is heard goes too": {
			map[string]string{"ovn-central/0": "dying", "ovn-central/1": "dying", "ovn-central/2": "active"}, []string{"aa01", "aa02"}, "juju run ovn-central/2 recover dry-run=true",
		},
		"none stays": {map[string]string{"ovn-central/0": "dying", "ovn-central/1": "dying"}, []string{"aa01"}, "juju run ovn-central/0 backup"},
	} {
		m := observe.Application{Unit: "ovn-central/0", Goal: map[string]juju.UnitGoal{"ovn-central/0": {Status: "active"}}, Published: relation.UnitIdentities{}}
		st := raft.Status{Role: raft.Candidate, State: raft.ClusterMember, Server: "aa00", Servers: []raft.Member{{Short: "aa00", Self: true}}}
		for unit, status := range test.goal {
			m.Goal[unit] = juju.UnitGoal{Status: status}
		}
		for i, short := range []string{"aa01", "aa02"} {
			m.Published[fmt.Sprintf("ovn-central/%d", i+1)] = relation.Identities{ovndb.NB: {Server: raft.ID(short)}}
			st.Servers = append(st.Servers, raft.Member{Short: short})
		}
		for _, short := range test.heard {
			st.Connections = append(st.Connections, raft.Connection{Peer: short, Incoming: true, Up: true}, raft.Connection{Peer: short, Up: true})
		}
		ways := status.NoQuorumRemediation(m, observe.ServerState{Database: ovndb.NB, Condition: ovndb.Serving, Status: st})
		assert.Contains(t, ways[1], "if they are lost for good: "+test.want+" (docs/how-to/recover-quorum.md)", name)
	}
}

// A unit that is cut off from a quorum recovers nothing.
func TestNextOfAUnitThatIsCutOff(t *testing.T) {
	s := observetest.Three(t)
	s.NB = observetest.Up("aa00", "aa01", "aa02").CutOff()
	assert.Equal(t, []string{"juju run ovn-central/1 cluster-status"}, status.Next(s.Report()))
}
