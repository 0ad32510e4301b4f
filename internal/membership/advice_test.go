package membership_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Where Juju can't be asked no other unit is known: the advice is not to kick this one.
func TestR4CutOffUnitIsNotToldToKickItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it waits for an election
		s := going(t)
		s.Goal, s.NB = nil, s.NB.CutOff()
		_, err := on(s, new(observetest.Machine)).Stop(t.Context(), s.Application(), observe.Cache{})
		require.Error(t, err)
		for _, r := range finding.Reasons(err)[0].Remedies {
			assert.False(t, r.Command.Action == "kick" && r.Command.Unit == s.Unit)
		}
	})
}

// A unit whose server is dead can't leave by itself.
func TestAdviceForADeadMemberIsNotToLetItLeave(t *testing.T) {
	s := observetest.JoinedBy4(t)
	s.NB = observetest.Up("aa00", "aa01").Down("aa02")
	results, err := on(s, new(observetest.Machine)).Kick(t.Context(), s.Application(), nbKick("aa02"))
	require.NoError(t, err)
	assert.NotContains(t, findingtest.Brief(results[0].Against[0]), "remove-unit ovn-central/2")
}

// R11: a warning is no next step.
func TestWarningOfAKickIsNotACommand(t *testing.T) {
	s := observetest.JoinedBy4(t)
	results, err := on(s, new(observetest.Machine)).Kick(t.Context(), s.Application(), forced(nbKick("aa02")))
	require.NoError(t, err)
	assert.Empty(t, results[0].Against)
	assert.Equal(t, []finding.Finding{finding.Of(finding.FewWouldStay, ovndb.NB, finding.Args{Count: 2})}, results[0].Warnings)
}

// R7: a unit without a record is not "already gone": otherwise the action kicks nb and succeeds, with the stale
// member of sb left unseen.
func TestR7UnitWithoutARecordInOneDatabaseIsNotDone(t *testing.T) {
	s := observetest.JoinedBy4(t)
	delete(s.History[ovndb.SB], "13fe")
	s.NB, s.SB = s.NB.Down("aa04"), s.Led().SB.Down("13fe")
	results, err := on(s, new(observetest.Machine)).Kick(t.Context(), s.Application(), unitKick("ovn-central/4"))
	require.NoError(t, err)
	require.Len(t, results, 2)
	assert.False(t, results[1].Done())
}

// The text must not have the address twice.
func TestMemberOfNobodyIsDescribedOnce(t *testing.T) {
	s := observetest.JoinedBy4(t)
	s.History, s.NB = nil, s.NB.Down("aa04")
	results, err := on(s, new(observetest.Machine)).Kick(t.Context(), s.Application(), nbKick("aa04"))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(results[0].Text, observetest.Address(ovndb.NB, 3)), results[0].Text)
}

// R9: with the programs of OVN gone (the packages were removed), nothing is left
// that failing could protect, and no retry will ever succeed.
func TestR9StopWithoutTheProgramsOfOVNEnds(t *testing.T) {
	s := going(t)
	m := new(observetest.Machine)
	service := on(s, m)
	service.Control.Runner = missing{}
	_, err := service.Stop(t.Context(), s.Application(), observe.Cache{})
	assert.NoError(t, err)
}
