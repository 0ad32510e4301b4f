package membership_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// Copy into internal/membership, beside scene_test.go.

// 0010 is printed bare; Juju makes 8 of it, which 0008 can be too.
func TestR4NextPrintsIDsThatJujuKeeps(t *testing.T) {
	s := three(t)
	s.nb = s.nb.down("0010", "0008")
	lines := status.Next(s.report())
	require.NotEmpty(t, lines)
	for _, line := range lines {
		accepts(t, s, line)
	}
}

// Where Juju can't be asked, otherUnit() is this unit: it is told to kick itself.
func TestR4CutOffUnitIsNotToldToKickItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it waits for an election
		s := going(t)
		s.goal, s.nb = nil, s.nb.cutOff()
		_, err := s.on(new(machine)).Stop(t.Context(), s.model(), observe.Cache{})
		require.Error(t, err)
		for line := range strings.Lines(err.Error()) {
			if i := strings.LastIndex(line, "juju run "); i >= 0 && strings.Contains(line[i:], " kick ") {
				assert.NotEqual(t, s.unit, parse(t, line[i:]).unit, line)
			}
		}
	})
}

// The most pressing thing comes first: a quorum that is lost, not a join.
func TestStatusNamesALostQuorumBeforeAWait(t *testing.T) {
	for _, nb := range []members{{condition: ovndb.Absent}, up("aa00").in(raft.JoiningCluster)} {
		s := three(t)
		s.nb, s.sb = nb, up("bb00").down("bb01", "bb02").cutOff()
		said := status.Summarize(s.report(), false)
		assert.Equal(t, juju.Blocked, said.Word, said)
	}
}

// A follower that knows a leader but can ask nobody (no certificate, a closed port)
// knows nothing of the quorum; "nb has no quorum: 0 of 3 up" is not what it saw.
func TestStatusOfAFollowerThatCanAskNobodyDoesNotCountAllAsDown(t *testing.T) {
	s := three(t)
	c := s.cluster(ovndb.SB, s.sb)
	c.View.Probes = nil
	c.Quorum = c.View.Quorum()
	r := s.report()
	r.Clusters[1] = c
	assert.NotContains(t, status.Summarize(r, false).String(), "0 of 3 up")
}

// A unit whose server is dead can't leave by itself.
func TestAdviceForADeadMemberIsNotToLetItLeave(t *testing.T) {
	s := joinedBy4(t)
	s.nb = up("aa00", "aa01").down("aa02")
	results, err := s.on(new(machine)).Kick(t.Context(), s.model(), nbKick("aa02"))
	require.NoError(t, err)
	assert.NotContains(t, results[0].String(), "which then leaves by itself")
}

// R11: a warning is no next step.
func TestWarningOfAKickIsNotACommand(t *testing.T) {
	s := joinedBy4(t)
	results, err := s.on(new(machine)).Kick(t.Context(), s.model(), forced(nbKick("aa02")))
	require.NoError(t, err)
	assert.NotContains(t, results[0].String(), "next: nb: this leaves 2")
}

// R7: what there is no record of is not "already gone": nb is kicked, and the stale
// member of sb stays, unseen, with the action a success.
func TestR7UnitWithoutARecordInOneDatabaseIsNotDone(t *testing.T) {
	s := joinedBy4(t)
	delete(s.history[ovndb.SB], "13fe")
	s.nb, s.sb = s.nb.down("aa04"), s.led().sb.down("13fe")
	results, err := s.on(new(machine)).Kick(t.Context(), s.model(), unitKick("ovn-central/4"))
	require.NoError(t, err)
	require.Len(t, results, 2)
	assert.False(t, results[1].Done(), results[1].String())
}

// The address stands twice.
func TestMemberOfNobodyIsDescribedOnce(t *testing.T) {
	s := joinedBy4(t)
	s.history, s.nb = nil, s.nb.down("aa04")
	results, err := s.on(new(machine)).Kick(t.Context(), s.model(), nbKick("aa04"))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(results[0].Text, address(ovndb.NB, 3)), results[0].Text)
}

// R9: with the programs of OVN gone (the packages were removed), nothing is left
// that failing could protect, and no retry will ever succeed.
func TestR9StopWithoutTheProgramsOfOVNEnds(t *testing.T) {
	s := going(t)
	m := new(machine)
	service := s.on(m)
	service.Control.Runner = missing{}
	_, err := service.Stop(t.Context(), s.model(), observe.Cache{})
	assert.NoError(t, err)
}
