package recovery

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

const (
	one   raft.ID = "aaaaaaaa-284d-47b2-9acc-fb82170132ed"
	other raft.ID = "bbbbbbbb-284d-47b2-9acc-fb82170132ed"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func made(r Request, cluster raft.ID) *Request {
	r.New = cluster
	return &r
}

// publisher is unit 0 of 3, which leads and has asked; unit 1 has made a cluster, and
// answers.
func publisher() State {
	s := of(3).publishes(Copy{Term: 2, Index: 10, Stopped: true})
	s.JujuLeader, s.Own.Stopped, s.HeldFor, s.Now, s.Asked = true, true, unit(1), noon.Add(time.Minute), noon
	s.Peers[0].Request, s.Peers[0].Reached = made(givingUp(2), one), true
	s.Peers[0].Request.Heard = map[string]time.Time{unit(0): noon}
	return s
}

// What a unit publishes outlives it, and a new cluster has no other member. So none is put in
// the old one's place whose unit is not seen to be there.
func TestNewClusterIsPublishedOnlyOfAUnitThatIsSeenToHaveIt(t *testing.T) {
	next := publisher().Next()
	assert.Equal(t, Publish, next.Action)
	assert.Equal(t, one, next.New)
	assert.Equal(t, unit(1), next.For)

	const holds = "waiting RECOVERY_HOLDS nb Unit=ovn-central/1"
	unanswered := "waiting RECOVERY_UNANSWERED nb Unit=ovn-central/1 -> IF_THIS_LASTS: start the machine of {unit} " + again("ovn-central/2,ovn-central/1", "ovn-central/1")
	runs := func(unit string) string {
		return "waiting RECOVERY_NOT_STOPPED nb " + unit + " Unit=ovn-central/1 " +
			strings.Replace(again("ovn-central/2,"+unit, unit), "ovn-central/0", "ovn-central/1", 1)
	}
	for name, test := range map[string]struct {
		edit func(s *State)
		want Action
		says string
	}{
		"its machine does not answer": {
			func(s *State) { s.Peers[0].Reached = false }, None,
			"waiting RECOVERY_UNANSWERED nb Unit=ovn-central/1 -> start the machine of {unit} " + again("ovn-central/2,ovn-central/1", "ovn-central/1"),
		},
		"no hook of it has answered": {
			func(s *State) { s.Peers[0].Request.Heard = nil }, None,
			unanswered,
		},
		"it has answered another unit, which led": {
			func(s *State) { s.Peers[0].Request.Heard = map[string]time.Time{unit(2): noon} }, None, unanswered,
		},
		"it has answered what was asked before": {
			func(s *State) { s.Asked = noon.Add(30 * time.Second) }, None, unanswered,
		},
		"its answer is old":                        {func(s *State) { s.Now = noon.Add(time.Hour) }, Ask, holds},
		"the clock was set back since":             {func(s *State) { s.Now = noon.Add(-time.Hour) }, Ask, holds},
		"another unit has begun to lead":           {func(s *State) { s.Asked = time.Time{} }, Ask, holds},
		"this unit's own server was started since": {func(s *State) { s.Own.Stopped = false }, Stop, "info "},
		"a server of another unit runs meanwhile": {
			func(s *State) { s.Peers[0].Copy.Stopped = false }, None,
			runs("ovn-central/1"),
		},
		"a unit that is no member may have a server that runs": {
			func(s *State) { s.Peers = append(s.Peers, kicked()) }, None,
			runs("ovn-central/4"),
		},
		"that one is given up": {
			func(s *State) {
				s.Peers = append(s.Peers, kicked())
				s.Peers[0].Request.GivenUp = append(s.Peers[0].Request.GivenUp, unit(4))
			}, Publish, holds,
		},
		"what the unit publishes could not be read": {func(s *State) { s.Peers[0] = Peer{Unit: unit(1)} }, None, "waiting RECOVERY_UNREAD nb Unit=ovn-central/1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := publisher()
			test.edit(&s)
			next := s.Next()
			assert.Equal(t, test.want, next.Action)
			assert.Equal(t, test.says, findingtest.Brief(next.Why))
		})
	}
}

// kicked is unit 4, whose machine died before its member was removed by force: what it has
// published stays.
func kicked() Peer {
	return Peer{Unit: unit(4), Read: true, Copy: &Copy{Cluster: old, Term: 2, Index: 7}}
}

// A unit that is no member and has a copy is waited for before the new cluster is made, as it is
// before that is published. It can be given up, and no majority counts its copy.
func TestUnitThatHasACopyAndIsNoMemberIsWaitedForOrGivenUp(t *testing.T) {
	s := of(3)
	s.Own.Stopped = true
	s.Peers = append(s.Peers, kicked())
	asked := givingUp(1, 2)
	s.Request = &asked
	next := s.Next()
	assert.Equal(t, None, next.Action)
	assert.Equal(t, "waiting RECOVERY_NOT_STOPPED nb ovn-central/4 Unit=ovn-central/0 "+again("ovn-central/1,ovn-central/2,ovn-central/4", "ovn-central/4"), findingtest.Brief(next.Why))
	assert.Equal(t, []string{unit(5)}, s.Unknown(givingUp(1, 2, 4, 5)))

	asked = givingUp(1, 2, 4)
	assert.Equal(t, Make, s.Next().Action)
	plan := s.Judge(asked).Plan
	assert.Contains(t, plan, "nb: copy of ovn-central/4: term 2, index 7, as last reported; its server does not answer; given up")
	assert.Contains(t, plan, "nb: changes that only the 2 of 3 members that are given up have stored are lost; how many is not known")

	asked = givingUp(1, 2)
	s.Peers[2].Copy.Stopped = true
	assert.Equal(t, Make, s.Next().Action)
	assert.Contains(t, s.Judge(asked).Plan, "nb: changes that only the 2 of 3 members that are given up have stored are lost; how many is not known")
	s.Peers[2].Copy.Index = 11
	assert.Equal(t, finding.RecoveryNewerData, s.Judge(asked).Refusals[0].Code)
	s.Peers[2].Dying = true
	assert.Empty(t, s.Judge(asked).Refusals, "one that is being removed takes no part")
}

// The unit that leads and has made the cluster itself asks nothing of others.
func TestUnitThatLeadsPublishesItsOwnNewClusterAtOnce(t *testing.T) {
	s := of(3)
	s.JujuLeader, s.Own.Stopped, s.Staged, s.Request = true, true, one, made(givingUp(1, 2), one)
	assert.Equal(t, Publish, s.Next().Action)
}

// A unit answers for a file that is there.
func TestUnitAnswersTheOneThatAsksWhileItsNewClusterIsThere(t *testing.T) {
	s := of(3)
	s.Peers[1].Asks = noon
	for _, test := range []struct {
		made, staged raft.ID
		answers      bool
	}{{"", "", true}, {one, one, true}, {one, "", false}, {one, other, false}} {
		s.Staged = test.staged
		r := givingUp(1)
		r.New, r.Heard = test.made, map[string]time.Time{"from before": noon}
		answered := s.Answer(r)
		if !test.answers {
			assert.Empty(t, answered.Heard)
			continue
		}
		assert.Equal(t, map[string]time.Time{unit(2): noon}, answered.Heard)
	}
}

func TestNewClusterWhoseFileIsGoneIsMadeAgain(t *testing.T) {
	s := of(3)
	s.Own.Stopped, s.Request = true, made(givingUp(1, 2), one)
	assert.Equal(t, Make, s.Next().Action)
	s.Own = nil
	assert.Equal(t, Withdraw, s.Next().Action, "nor is there anything to make it of")
}

// A unit that has made a cluster is lost, another one is asked, which gives it up, and it
// returns: whichever of them leads, its own cluster stays out, and it says for which unit.
func TestUnitThatHasMadeAClusterAndWasGivenUpStaysOutWhenItReturns(t *testing.T) {
	s := publisher()
	s.Request, s.Staged = made(givingUp(1, 2), other), other
	next := s.Next()
	assert.Equal(t, Publish, next.Action)
	assert.Equal(t, other, next.New)

	s.Request.New, s.Staged = "", ""
	assert.Equal(t, Make, s.Next().Action, "it is not waited for, nor published, before that one is made either")

	returned := of(3)
	returned.Unit, returned.JujuLeader, returned.Own.Stopped, returned.Staged = unit(1), true, true, one
	returned.Now, returned.Asked = noon, noon
	returned.Request = made(givingUp(2), one)
	returned.Peers = []Peer{{Unit: unit(0), Read: true, Request: made(givingUp(1, 2), other)}, {Unit: unit(2), Read: true}}
	next = returned.Next()
	assert.Equal(t, Withdraw, next.Action)
	first := strings.Replace(again("ovn-central/2,ovn-central/0", "ovn-central/0"), ": ovn-central/0", ": ovn-central/1", 1)
	assert.Equal(t, "error RECOVERY_RUNS_ELSEWHERE nb Unit=ovn-central/0 "+first, findingtest.Brief(next.Why))
	returned.Request = nil
	next = returned.Next()
	assert.True(t, next.Held, "its server stays off")
	assert.Equal(t, finding.RecoveryUnanswered, next.Why.Code)
}

// Without the peer relation a unit whose removal waits hears of no recovery, and leads on.
func TestUnitWhoseNewClusterIsNotPublishedNamesThoseThatMayLeadAndAreBeingRemoved(t *testing.T) {
	s := of(3)
	s.Own.Stopped, s.Staged, s.Request = true, one, made(givingUp(1, 2), one)
	const waits = "waiting RECOVERY_NOT_PUBLISHED nb Unit=ovn-central/0"
	assert.Equal(t, waits, findingtest.Brief(s.Next().Why))
	s.Peers[1].Dying = true
	assert.Equal(t, waits+" -> IF_THIS_LASTS: resolved --no-retry ovn-central/2", findingtest.Brief(s.Next().Why))
}

// Of two that give each other up the one that was asked later counts, on every unit alike.
func TestOfTwoThatGiveEachOtherUpOneIsOver(t *testing.T) {
	early, late := *made(givingUp(1), one), *made(givingUp(0), other)
	early.Asked, late.Asked = noon, noon.Add(time.Second)
	all := map[string]Request{unit(0): early, unit(1): late}
	s := of(3)
	assert.Equal(t, unit(1), s.overriddenBy(unit(0), all))
	assert.Empty(t, s.overriddenBy(unit(1), all))
	late.Asked = noon
	all[unit(1)] = late
	assert.Empty(t, s.overriddenBy(unit(0), all))
	assert.Equal(t, unit(0), s.overriddenBy(unit(1), all))
}

// The quorum of the old cluster returns after the new one was made: the unit that made it takes
// it back, every unit says so, and all servers are released. A backup replaces what there is.
func TestNewClusterThatIsMadeIsTakenBackWhereTheOldOneHasAQuorumAgain(t *testing.T) {
	for _, leads := range []bool{false, true} {
		s := of(3)
		s.JujuLeader, s.Own.Stopped, s.HeldFor, s.Staged, s.Request = leads, true, unit(0), one, made(givingUp(1, 2), one)
		s.Serving = []string{"ssl:10.0.0.9:6643"}
		next := s.Next()
		require.Equal(t, Withdraw, next.Action)
		assert.Equal(t, "error RECOVERY_HAS_QUORUM nb ssl:10.0.0.9:6643", findingtest.Brief(next.Why))
		s.Request = nil
		assert.Equal(t, Release, s.Next().Action)

		s.Request = made(givingUp(1, 2), one)
		s.Request.Backup = "/var/backups/ovn-central/20261123T190312Z"
		next = s.Next()
		assert.Equal(t, None, next.Action)
		assert.Equal(t, "waiting OLD_CLUSTER_SERVED nb Address=ssl:10.0.0.9:6643 -> stop the server at {address}", findingtest.Brief(next.Why))
	}
	waits := publisher()
	waits.Serving = []string{"ssl:10.0.0.9:6643"}
	next := waits.Next()
	assert.Equal(t, None, next.Action, "no unit publishes it meanwhile")
	assert.True(t, next.Held)
	assert.Equal(t, "waiting RECOVERY_QUORUM_RETURNED nb Unit=ovn-central/1 Address=ssl:10.0.0.9:6643 -> IF_LOST: remove-unit --force ovn-central/1", findingtest.Brief(next.Why))
	waits.Peers[0].Request = nil
	assert.Equal(t, Release, waits.Next().Action)
}
