package functional

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// retried retries the `stop` of a unit, as Juju does, with the hooks of others between, until the unit is gone.
func (m *model) retried(u *lab.Unit, others ...*lab.Unit) {
	m.t.Helper()
	m.eventually(u.Name()+" goes", func() bool {
		for _, other := range others {
			require.NoError(m.t, m.RunHook(m.t.Context(), other, "update-status"))
		}
		require.NoError(m.t, m.Settle(m.t.Context()))
		return m.Retry(m.t.Context(), u) == nil
	})
}

// refuseStop runs the hook stop of a unit that is being removed before any other, and requires that it is refused.
func (m *model) refuseStop(u *lab.Unit) string {
	m.t.Helper()
	require.NoError(m.t, m.Destroy(u))
	return m.hookFailed(m.RunHook(m.t.Context(), u, "stop"), "stop")
}

// Of three units one is lost, and the one that leads the application is being removed: its stop is refused, and is the
// only hook that it runs. It leads for as long as its agent lives, so it publishes the new cluster.
func TestRestoreEndsWhereTheUnitThatLeadsTheApplicationIsBeingRemoved(t *testing.T) {
	m := deployWith(t, 3, lab.Options{JujuVersion: lab.Juju3})
	asked, leads, lost := m.units[0], m.units[1], m.units[2]
	require.NoError(t, m.SetLeader(t.Context(), leads))
	m.addSwitch("kept")
	m.eventually("the switch is seen", func() bool { return strings.Contains(m.seen(asked), "kept") })
	dir := m.act(asked, "backup")["backup"]
	m.powerOff(lost)
	m.requireDown(lost)
	t.Log(m.refuseRemoval(leads))
	ended := m.watchServed()
	t.Log(m.act(asked, "restore", "from="+dir, "give-up="+names([]*lab.Unit{leads, lost}), "i-really-mean-it=true"))
	require.False(t, asked.Running(lab.NB))

	before := m.LeaderSettings()["nb_cid"]
	m.retried(leads, asked)
	assert.NotEqual(t, before, m.LeaderSettings()["nb_cid"])
	m.tick("the backup is served", allMembers(m, asked), asked)
	assert.Contains(t, m.seen(asked), "kept")
	ended()
	put, live := leftFiles(t, leads)
	assert.Len(t, put, 2)
	assert.Empty(t, live)
	m.requireWritable()
}

// R9: a unit is removed after its new cluster was published, and before that is in its place: all other copies are
// put away then. Its stop, of which Juju drops what it tells, puts it there and serves it; the others join, and it goes.
func TestUnitThatIsRemovedBeforeItServesTheNewClusterServesItUntilOthersHaveJoined(t *testing.T) {
	m := deployWith(t, 5, lab.Options{JujuVersion: lab.Juju3})
	a := amid{model: m, asked: m.units[0], leads: m.units[1], lost: m.units[2:]}
	require.NoError(t, m.SetLeader(t.Context(), a.leads))
	m.addSwitch("kept")
	m.eventually("the switch is seen", func() bool {
		return strings.Contains(m.seen(a.asked), "kept") && strings.Contains(m.seen(a.leads), "kept")
	})
	m.lose(a.lost...)
	m.copiesOf(a.asked, a.leads)
	ended := m.watchServed()
	m.Hold(true)
	a.publishes()
	said := m.refuseStop(a.asked)
	assert.Contains(t, said, "nb: this unit's server is the only member")
	assert.True(t, a.asked.Running(lab.NB) && a.asked.Running(lab.SB))
	m.Hold(false)
	m.tick("the other one joins", func() bool {
		s, err := m.status(a.leads, lab.NB)
		now, other := m.status(a.leads, lab.SB)
		return err == nil && other == nil && s.HasLeader() && len(s.Servers) == 2 && now.HasLeader() && len(now.Servers) == 2
	}, a.leads)
	m.retried(a.asked, a.leads)
	ended()
	m.requireMembers(a.leads)
	assert.Contains(t, m.seen(a.leads), "kept")
	m.requireWritable()
}

// A restore waits for a unit that is off, and the unit that was asked is removed: the others take it for over, and so does
// the unit itself, whose server is what its stop needs.
func TestUnitThatWasStoppedForARestoreAndIsRemovedVotesAgainAndLeaves(t *testing.T) {
	m := deployWith(t, 3, lab.Options{JujuVersion: lab.Juju3})
	asked, other, off := m.units[0], m.units[1], m.units[2]
	m.addSwitch("kept")
	dir := m.act(asked, "backup")["backup"]
	m.powerOff(off)
	m.requireDown(off)
	require.NoError(t, m.SetLeader(t.Context(), other))
	shown := m.act(asked, "restore", "from="+dir, "i-really-mean-it=true")
	t.Log(shown)
	m.tick("both are stopped", func() bool { return !asked.Running(lab.NB) && !other.Running(lab.NB) }, other)

	m.Hold(true)
	said := m.refuseStop(asked)
	t.Log(said)
	m.Hold(false)
	assert.True(t, asked.Running(lab.NB) && asked.Running(lab.SB))
	m.tick("the other one votes too", func() bool {
		s, err := m.status(other, lab.NB)
		return err == nil && s.HasLeader()
	}, other)
	require.NoError(t, off.PowerOn(t.Context()))
	m.retried(asked, other, off)
	m.requireMembers(other, off)
	assert.Contains(t, m.seen(other), "kept")
	m.requireWritable()
}
