//go:build programs

package membership

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// R1, R5: of three members one is about to be taken down by its unit, which was stopped
// after it noted that. A unit that goes, and whose server can't be asked, does not stop
// it: one of three would be left. Once the other has seen the end of it, the unit stops its
// server, and does not go before the process is gone.
func TestR5ServerThatCannotBeAskedIsStoppedOnlyWhereNoOtherChangeIsBegun(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	a, c := units[0], units[2]
	m, own := going(c, units...), c.id(ovndb.NB)
	held, err := a.lock(t.Context(), a.observer.ObserveServer(t.Context(), ovndb.NB), never)
	require.NoError(t, err)
	_, cancel, err := held.recordIntent(t.Context(), lease.Down, string(a.id(ovndb.NB)))
	require.NoError(t, err)
	defer cancel()
	require.NoError(t, os.Remove(c.Control.Paths.Control(ovndb.NB)))

	c.hasten()
	_, err = c.Stop(t.Context(), m, observe.Cache{})
	assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err))
	assert.Len(t, a.record().Intents, 1, "it has noted nothing of its own")
	assert.NoError(t, c.servers[ovndb.NB].Signal(syscall.Signal(0)))

	held.held = lease.Held{Record: a.record(), Written: a.Now()} // it continues, and sees that its time is over
	held.releaseWith(t.Context(), nil, func(lease.Intent) bool { return true })
	require.Empty(t, a.record().Intents)
	c.Now = time.Now
	// systemd reports that it has stopped the service; the process is not systemd's here.
	_, err = c.Stop(t.Context(), m, observe.Cache{})
	require.ErrorAs(t, err, new(*PendingError))
	assert.Equal(t, []lease.Intent{{ID: string(own), Kind: lease.Down, By: c.Env.Unit, From: string(own)}}, a.record().Intents)

	c.kill(ovndb.NB)
	results, err := c.Stop(t.Context(), m, observe.Cache{})
	require.NoError(t, err)
	assert.Contains(t, results[0].Text, "the server is not running; it stays a member until another unit kicks it")
}

// R1: with another one down there would be one of three.
func TestR1ServerThatCannotBeAskedGoesOnWhereTheOthersAreNoMajorityWithoutIt(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	a, c := units[0], units[2]
	m := going(c, units...)
	units[1].kill(ovndb.NB)
	require.NoError(t, os.Remove(c.Control.Paths.Control(ovndb.NB)))
	_, err := c.Stop(t.Context(), m, observe.Cache{})
	assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err))
	assert.Empty(t, a.record(), "no lock is taken for it")
}

// R0, R1: a member whose file lacks entries is down, though it answers: with it alone the
// others are no majority.
func TestR0ServerThatCannotBeAskedGoesOnWhereAnotherMemberHasLostEntries(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	a, damaged, c := units[0], units[1], units[2]
	m := going(c, units...)
	a.nbctl("init")
	require.NoError(t, damaged.PublishDamage(t.Context(), damaged.observer.ObserveServer(t.Context(), ovndb.NB), "record 9 has entry 8"))
	require.NoError(t, os.Remove(c.Control.Paths.Control(ovndb.NB)))
	_, err := c.Stop(t.Context(), m, observe.Cache{})
	assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err))
	assert.Empty(t, a.record().Intents, "nothing was begun")
	assert.Empty(t, a.record().Holder)
	assert.NoError(t, c.servers[ovndb.NB].Signal(syscall.Signal(0)))
}
