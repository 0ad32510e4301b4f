package recovery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
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

// accepts returns the state after unit 0, as Juju's leader, has accepted the request of unit n, and all units with
// stopped servers have seen that.
func (s State) accepts(n int) State {
	s.Accepted = Acceptance{Cluster: old, Unit: unit(n), By: unit(0), At: noon}
	s.Peers = slices.Clone(s.Peers)
	for i, p := range s.Peers {
		if p.Copy != nil && p.Copy.Stopped {
			c := *p.Copy
			c.For = s.Accepted.request()
			s.Peers[i].Copy = &c
		}
	}
	return s
}

// publisher returns the state of unit 0 of 3, Juju's leader. Unit 1 has made a new cluster, and answers.
func publisher() State {
	s := of(3).publishes(Copy{Term: 2, Index: 10, Stopped: true}).accepts(1)
	s.JujuLeader, s.Own.Stopped, s.HeldFor, s.Now = true, true, unit(1), noon.Add(time.Minute)
	s.Peers[0].Request, s.Peers[0].Reached = made(givingUp(2), one), true
	s.Peers[0].Request.Heard = s.Accepted
	return s
}

// Published data outlives a unit, and a new cluster has no other member. So it does not replace the old one unless
// its unit answers.
func TestPublish_needs_confirmed_cluster(t *testing.T) {
	next := publisher().Next()
	assert.Equal(t, Publish, next.Action)
	assert.Equal(t, one, next.New)
	assert.Equal(t, unit(1), next.For)

	const holds = "waiting RECOVERY_HOLDS nb Unit=ovn-central/1"
	unanswered := "waiting RECOVERY_UNANSWERED nb Unit=ovn-central/1 -> IF_THIS_LASTS: " +
		string(finding.StartMachine) + " " +
		again("ovn-central/2,ovn-central/1", "ovn-central/1")
	runs := func(unit string) string {
		return "waiting RECOVERY_NOT_STOPPED nb " + unit + " Unit=ovn-central/1 " +
			strings.Replace(again("ovn-central/2,"+unit, unit), "ovn-central/0", "ovn-central/1", 1)
	}
	const notPublished = "waiting RECOVERY_NOT_PUBLISHED nb Unit=ovn-central/1"
	peer := func(n int, change func(p *Peer)) func(*State) { return func(s *State) { change(&s.Peers[n-1]) } }
	joined := func(p Peer, gaveUp ...string) func(*State) {
		return func(s *State) {
			s.Peers = append(s.Peers, p)
			s.Peers[0].Request.GivenUp = append(s.Peers[0].Request.GivenUp, gaveUp...)
		}
	}
	dying, newer := Peer{Unit: unit(4), Read: true, Dying: true}, Copy{Cluster: old, Term: 3, Index: 11}
	for name, test := range map[string]struct {
		edit func(s *State)
		want Action
		says string
	}{
		"machine off": {
			peer(1, func(p *Peer) { p.Reached = false }), None,
			strings.Replace(unanswered, "IF_THIS_LASTS: ", "", 1),
		},
		"unanswered":              {peer(1, func(p *Peer) { p.Request.Heard = Acceptance{} }), None, unanswered},
		"answered another leader": {peer(1, func(p *Peer) { p.Request.Heard.By = unit(2) }), None, unanswered},
		"answered earlier question": {
			func(s *State) { s.Accepted.At = noon.Add(30 * time.Second) }, None, unanswered,
		},
		"answer old":          {func(s *State) { s.Now = noon.Add(time.Hour) }, Accept, holds},
		"clock set back":      {func(s *State) { s.Now = noon.Add(-time.Hour) }, Accept, holds},
		"accepted by another": {func(s *State) { s.Accepted.By = unit(2) }, Accept, holds},
		"own server started":  {func(s *State) { s.Own.Stopped = false }, Stop, "info "},
		"peer's server runs":  {peer(1, func(p *Peer) { p.Copy.Stopped = false }), None, runs("ovn-central/1")},
		"peer may have started": { // it was stopped for an earlier request
			peer(1, func(p *Peer) { p.Copy.For = "ovn-central/9 then" }), None, runs("ovn-central/1"),
		},
		"peer unread": {
			func(s *State) { s.Peers[0] = Peer{Unit: unit(1)} }, None, "waiting RECOVERY_UNREAD nb Unit=ovn-central/1",
		},
		"nonmember may run":           {joined(kicked()), None, runs("ovn-central/4")},
		"nonmember may run, given up": {joined(kicked(), unit(4)), Publish, holds},
		"unit dying":                  {joined(dying), None, notPublished},
		"unit dying, given up":        {joined(dying, unit(4)), Publish, holds},
		"given up unit has more":      {peer(2, func(p *Peer) { p.Copy = &newer }), None, notPublished},
		"given up unit has leader": {
			peer(2, func(p *Peer) { p.Copy = &Copy{Cluster: old, HasRaftLeader: true} }), None, notPublished,
		},
		"given up unit has more, force": {
			func(s *State) { s.Peers[1].Copy, s.Peers[0].Request.Force = &newer, true }, Publish, holds,
		},
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

// kicked returns unit 4, whose machine died before its member was removed by force. Its published data remains.
func kicked() Peer {
	return Peer{Unit: unit(4), Read: true, Copy: &Copy{Cluster: old, Term: 2, Index: 7}}
}

// The new cluster is neither made nor published before a unit that has a copy but no member has stopped. That unit
// can be given up, and no majority counts its copy.
func TestJudge_copy_of_nonmember(t *testing.T) {
	s := of(3)
	s.Own.Stopped = true
	s.Peers = append(s.Peers, kicked())
	asked := givingUp(1, 2)
	s.Request = &asked
	s = s.accepts(0)
	next := s.Next()
	assert.Equal(t, None, next.Action)
	assert.Equal(t,
		"waiting RECOVERY_NOT_STOPPED nb ovn-central/4 Unit=ovn-central/0 "+again("ovn-central/1,ovn-central/2,ovn-central/4",
			"ovn-central/4")+withdraws, findingtest.Brief(next.Why))
	assert.Equal(t, []string{unit(5)}, s.Unknown(givingUp(1, 2, 4, 5)))

	asked = givingUp(1, 2, 4)
	assert.Equal(t, Make, s.Next().Action)
	plan := s.Judge(asked).Plan
	assert.Contains(t, plan, finding.Statement{
		Database: ovndb.NB, Line: finding.CopyEnds, Name: unit(4), Args: finding.Args{Value: "term 2, index 7"},
		More: []finding.Line{finding.AddLastReported, finding.AddGivenUp},
	})
	assert.Contains(t, plan, loses(finding.LosesGivenUp, 2, 3))

	asked = givingUp(1, 2)
	s.Peers[2].Copy.Stopped = true
	s = s.accepts(0)
	assert.Equal(t, Make, s.Next().Action)
	assert.Contains(t, s.Judge(asked).Plan, loses(finding.LosesGivenUp, 2, 3))
	s.Peers[2].Copy.Index = 11
	assert.Equal(t, finding.RecoveryNewerData, s.Judge(asked).Refusals[0].Code)
	s.Peers[2].Dying = true
	assert.Equal(t, []string{
		"error RECOVERY_MAY_RETURN nb Units=[ovn-central/4] " +
			again("ovn-central/1,ovn-central/2,ovn-central/4", "ovn-central/4"),
	}, briefs(s.Judge(asked).Refusals), "none begins while a unit is being removed")
	assert.Equal(t, Withdraw, s.Next().Action)
	assert.Empty(t, s.Judge(givingUp(1, 2, 4)).Refusals, "a given up unit takes no part")
	assert.Equal(t, []string{unit(5)}, s.Unknown(givingUp(4, 5)))
	s.Peers = append(s.Peers, Peer{Unit: unit(5)})
	assert.Empty(t, s.Unknown(givingUp(4, 5)), "a unit that was lost before it joined can be given up")
}

// Juju's leader needs no answer for its own new cluster.
func TestPublish_own_cluster_of_leader(t *testing.T) {
	s := of(3)
	s.JujuLeader, s.Own.Stopped, s.Staged, s.Request = true, true, one, made(givingUp(1, 2), one)
	assert.Equal(t, Accept, s.Next().Action)
	assert.Equal(t, Publish, s.accepts(0).Next().Action)
}

// A unit answers only while the file of its new cluster exists.
func TestAnswer_while_cluster_exists(t *testing.T) {
	s := of(3).accepts(0)
	for _, test := range []struct {
		made, staged raft.ID
		answers      bool
	}{{"", "", true}, {one, one, true}, {one, "", false}, {one, other, false}} {
		s.Staged = test.staged
		r := givingUp(1)
		r.New, r.Heard = test.made, Acceptance{Unit: "from before"}
		s.Request = &r
		want := Acceptance{}
		if test.answers {
			want = s.Accepted
		}
		assert.Equal(t, want, s.Answer(r).Heard)
	}
	s.Accepted.Asked = noon
	assert.Empty(t, s.Answer(*s.Request).Heard, "another request of it was accepted")
}

func TestNext_lost_file_is_made_again(t *testing.T) {
	s := of(3).accepts(0)
	s.Own.Stopped, s.Request = true, made(givingUp(1, 2), one)
	assert.Equal(t, Make, s.Next().Action)
	s.Own = nil
	assert.Equal(t, Withdraw, s.Next().Action, "nor is there anything to make it of")
}

// A unit has made a cluster and is lost, and another request gives it up. When the unit returns, its cluster is not
// published, and its server stays off.
func TestNext_given_up_unit_returns(t *testing.T) {
	s := publisher()
	s.Request = made(givingUp(1, 2), "")
	next := s.Next()
	assert.Equal(t, []any{Accept, unit(0)}, []any{next.Action, next.For})
	s = s.accepts(0)
	assert.Equal(t, Make, s.Next().Action)
	s.Request.New, s.Staged = other, other
	next = s.Next()
	assert.Equal(t, []any{Publish, other}, []any{next.Action, next.New})

	returned := of(3).accepts(0)
	returned.Unit, returned.JujuLeader, returned.Own.Stopped = unit(1), true, true
	returned.Staged, returned.HeldFor = one, unit(1)
	returned.Accepted.By, returned.Now = unit(1), noon
	returned.Request = made(givingUp(2), one)
	returned.Peers = []Peer{{Unit: unit(0), Read: true, Request: made(givingUp(1, 2), other)}, {Unit: unit(2), Read: true}}
	next = returned.Next()
	assert.Equal(t, Withdraw, next.Action)
	instead := strings.Replace(again("ovn-central/2,ovn-central/0", "ovn-central/0"), ": ovn-central/0", ": ovn-central/1",
		1)
	assert.Equal(t,
		"error RECOVERY_RUNS_ELSEWHERE nb Unit=ovn-central/0 -> TO_RUN_THIS_INSTEAD: ovn-central/0 recover withdraw=true "+
			instead, findingtest.Brief(next.Why))
	returned.Request = nil
	next = returned.Next()
	assert.True(t, next.Held, "its server stays off")
	assert.Equal(t, finding.RecoveryUnanswered, next.Why.Code)
}

// Two units have a request: Juju's leader accepts the first and withdraws the other, and no server is stopped before
// that.
func TestR21_one_request_is_accepted(t *testing.T) {
	s := of(3)
	early, late := givingUp(2), givingUp(2)
	early.Asked, late.Asked = noon, noon.Add(time.Second)
	s.Now, s.Request, s.Peers[0].Request = noon.Add(time.Minute), &late, &early
	s = s.publishes(Copy{Term: 2, Index: 10})
	next := s.Next()
	assert.Equal(t, None, next.Action)
	assert.Equal(t, "waiting RECOVERY_NOT_ACCEPTED nb Unit=ovn-central/0 -> IF_THIS_LASTS: status ovn-central",
		findingtest.Brief(next.Why))
	s.Peers[1].Dying = true
	assert.Equal(t,
		"waiting RECOVERY_NOT_ACCEPTED nb Unit=ovn-central/0 -> IF_THIS_LASTS: resolved --no-retry ovn-central/2",
		findingtest.Brief(s.Next().Why))
	s.Peers[1].Dying, s.JujuLeader = false, true
	next = s.Next()
	assert.Equal(t, []any{Accept, unit(1)}, []any{next.Action, next.For})
	pending, is := s.Pending()
	require.True(t, is, "an action that only looks makes no step")
	assert.Equal(t, "waiting RECOVERY_NOT_ACCEPTED nb Unit=ovn-central/1 "+
		"-> TO_WITHDRAW: ovn-central/1 recover withdraw=true", findingtest.Brief(pending))
	s.Accepted = s.Accept(unit(1))
	assert.Equal(t, Withdraw, s.Next().Action)
	_, is = s.Pending()
	assert.False(t, is)
	s.Request = nil
	assert.Equal(t, Stop, s.Next().Action)

	_, is = s.Before(givingUp(2))
	assert.True(t, is, "another one is refused at once")
	again := givingUp(1, 2)
	_, is = s.Before(again)
	assert.False(t, is, "unless it gives up the first")
	again.Asked = s.AskedAt("")
	s.Request = &again
	next = s.Next()
	assert.Equal(t, []any{Accept, unit(0)}, []any{next.Action, next.For})
	s.Accepted = s.Accept(unit(0))
	assert.Equal(t, Stop, s.Next().Action)

	s.Request, s.Peers[0].Request, s.HeldFor, s.Own.Stopped = nil, nil, unit(1), true
	assert.Equal(t, Release, s.Next().Action, "all are withdrawn")
}

// A majority that was given up comes back and stores more after the new cluster was made. Then the old cluster stays.
func TestNext_withdraws_for_newer_data(t *testing.T) {
	s := of(3).accepts(0)
	s.Own.Stopped, s.HeldFor, s.Staged, s.Request = true, unit(0), one, made(givingUp(1, 2), one)
	assert.Equal(t, None, s.Next().Action)
	s = s.publishes(Copy{Term: 3, Index: 11})
	next := s.Next()
	assert.Equal(t, []any{Withdraw, finding.RecoveryNewerData}, []any{next.Action, next.Why.Code})
	s.Request.Force = true
	assert.Equal(t, None, s.Next().Action)
}

// No request is accepted while a unit that it does not give up is being removed.
func TestR21_no_acceptance_during_removal(t *testing.T) {
	s := of(4)
	s.JujuLeader, s.Now = true, noon
	asked := givingUp(2)
	s.Peers[0].Request = &asked
	s.Peers[2].Dying = true
	assert.Equal(t, None, s.Next().Action)
	asked = givingUp(2, 3)
	assert.Equal(t, Accept, s.Next().Action)
	s.Dying = true
	assert.Equal(t, None, s.Next().Action, "the leader itself is")
	asked = givingUp(0, 2, 3)
	assert.Equal(t, Accept, s.Next().Action)
}

// An acceptance stays while the data of the request's unit can't be read, and ends when the request is withdrawn.
func TestAccept_unread_unit(t *testing.T) {
	s := publisher()
	asked := givingUp(2)
	s.Peers[0].Request, s.Peers[1].Request = nil, &asked
	next := s.Next()
	assert.Equal(t, []any{Accept, unit(2)}, []any{next.Action, next.For})
	s.Peers[0].Read = false
	next = s.Next()
	assert.Equal(t, []any{None, true, finding.RecoveryUnread}, []any{next.Action, next.Held, next.Why.Code})
	asked = givingUp(1)
	assert.Equal(t, Accept, s.Next().Action)
}

// A unit whose removal waits has no peer relation, so it learns of no recovery, but may remain Juju's leader.
func TestNext_unpublished_names_dying_leader(t *testing.T) {
	s := of(3).accepts(0)
	s.Own.Stopped, s.Staged, s.Request = true, one, made(givingUp(1, 2), one)
	const waits = "waiting RECOVERY_NOT_PUBLISHED nb Unit=ovn-central/0"
	assert.Equal(t, waits, findingtest.Brief(s.Next().Why))
	s.Peers[1].Dying = true
	assert.Equal(t, waits+" -> IF_THIS_LASTS: resolved --no-retry ovn-central/2", findingtest.Brief(s.Next().Why))
}

// If two requests give up each other's unit, the later one counts. The request that was typed last is later by any
// unit's clock.
func TestAccept_later_of_two_that_give_each_other_up(t *testing.T) {
	s := of(3).accepts(1)
	s.JujuLeader, s.Now = true, noon
	mine, accepted := givingUp(1), givingUp(0)
	mine.Asked, accepted.Asked = noon, noon.Add(time.Hour)
	s.Request, s.Peers[0].Request, s.Accepted.Asked = &mine, &accepted, accepted.Asked
	assert.Equal(t, Withdraw, s.Next().Action)
	mine.Asked = s.AskedAt("")
	assert.Equal(t, noon.Add(time.Hour+time.Second), mine.Asked)
	assert.Equal(t, Accept, s.Next().Action)
}

// The quorum of the old cluster returns after the new one was made. The unit withdraws its request, every unit
// reports that, and all servers are released. A restore, however, still replaces the old cluster.
func TestNext_withdraws_for_returned_quorum(t *testing.T) {
	for _, leads := range []bool{false, true} {
		s := of(3).accepts(0)
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
		assert.Equal(t, "waiting OLD_CLUSTER_SERVED nb Address=ssl:10.0.0.9:6643 -> "+string(finding.StopOldServer),
			findingtest.Brief(next.Why))
	}
	waits := publisher()
	waits.Serving = []string{"ssl:10.0.0.9:6643"}
	next := waits.Next()
	assert.Equal(t, None, next.Action, "no unit publishes it meanwhile")
	assert.True(t, next.Held)
	assert.Equal(t,
		"waiting RECOVERY_QUORUM_RETURNED nb Unit=ovn-central/1 Address=ssl:10.0.0.9:6643 -> IF_LOST: remove-unit --force "+
			"ovn-central/1", findingtest.Brief(next.Why))
	waits.Peers[0].Request = nil
	assert.Equal(t, Release, waits.Next().Action)
}
