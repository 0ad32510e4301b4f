//go:build programs

package membership

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// watched calls see before each command.
type watched struct {
	services
	see func(run.Command)
}

func (s watched) Run(ctx context.Context, c run.Command) ([]byte, error) {
	s.see(c)
	return s.services.Run(ctx, c)
}

// R6, R8: the quorum is lost just before a kick is sent, so its entry stays in one log. The second kick finds the
// member absent without proof, so it is pending, too, and does not change the other database.
func TestR6_uncommitted_kick_stays_pending(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB, ovndb.SB)
	u, other, gone := units[0], units[1], units[2]
	m := model(u, units...)
	delete(m.Goal, gone.Env.Unit)
	delete(m.Published, gone.Env.Unit)
	for _, d := range ovndb.Databases() {
		gone.kill(d)
		u.until(d, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(m.ServersOf(d, gone.Env.Unit)[0].Short()) })
	}
	begun := time.Now()
	u.Now = func() time.Time { return begun.Add(5 * time.Since(begun)) }
	u.Control.Runner = watched{see: func(c run.Command) {
		if slices.Contains(c.Args, "cluster/kick") && slices.Contains(c.Args, string(ovndb.NB)) {
			other.kill(ovndb.NB)
		}
	}}
	request := KickRequest{Unit: gone.Env.Unit, Confirmed: true}
	for try, code := range []finding.Code{finding.RemovalNotProved, finding.RemovalNotCommitted} {
		results, err := u.Kick(t.Context(), m, request)
		require.NoError(t, err)
		require.Len(t, results, 2)
		assert.Equal(t, Pending, results[0].Outcome, "try %d: %s", try, results[0])
		assert.True(t, finding.Has(results[0].Against, code), "try %d: %s", try, results[0])
		if code == finding.RemovalNotProved {
			assert.Contains(t, findingtest.Briefs(finding.Refuse(results[0].Against)), "(NOT_COMMITTED)")
		}
		assert.Equal(t, Untouched, results[1].Outcome, "try %d: %s", try, results[1])
		nb, err := u.Control.Status(t.Context(), ovndb.NB)
		require.NoError(t, err)
		require.Len(t, nb.Servers, 2, "the premise: it is absent from the rows")
		sb, err := u.Control.Status(t.Context(), ovndb.SB)
		require.NoError(t, err)
		assert.Len(t, sb.Servers, 3)
	}

	other.again(ovndb.NB)
	u.Control.Runner = services{}
	require.Eventually(t, func() bool {
		results, err := u.Kick(t.Context(), m, request)
		require.NoError(t, err)
		return results[0].Done() && results[1].Done()
	}, 30*time.Second, 100*time.Millisecond)
	for _, d := range ovndb.Databases() {
		u.until(d, func(s raft.Status) bool { return s.HasLeader() && len(s.Servers) == 2 && s.NotCommitted == 0 })
	}
}

// R0: all other units learn of damage in a unit's file, even if its server accepts no writes: the unit writes and
// drops the record through another member.
func TestPublishDamage_through_other_member(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	other, u := units[0], units[2]
	other.nbctl("init")
	lost := func() []raft.ID {
		view, err := other.observer.View(t.Context(), other.nb(), nil)
		require.NoError(t, err)
		return view.Lost
	}
	local := u.nb()
	require.NoError(t, os.Remove(u.Control.Paths.Socket(ovndb.NB)))
	_, err := u.Global(t.Context(), ovndb.NB, "unix:"+u.Control.Paths.Socket(ovndb.NB))
	require.Error(t, err, "the premise")
	require.NoError(t, u.PublishDamage(t.Context(), local, "record 9 has entry 8"))
	assert.Equal(t, []raft.ID{u.id(ovndb.NB)}, lost())

	// R17: an existing record is not written again.
	before := other.noted()
	require.NoError(t, u.PublishDamage(t.Context(), local, "record 9 has entry 8, still"))
	assert.Equal(t, before, other.noted())

	// The record stays while the file can't be loaded.
	whole := u.Files
	u.Files.Paths.DB = t.TempDir()
	text, err := os.ReadFile(whole.Paths.File(ovndb.NB))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(u.Files.Paths.File(ovndb.NB), withoutAnEntry(t, text), 0o600))
	require.NoError(t, u.PublishDamage(t.Context(), local, ""))
	assert.Equal(t, before, other.noted())
	u.Files = whole
	require.NoError(t, u.PublishDamage(t.Context(), local, ""), "its file is whole")
	assert.Empty(t, lost())
}

// noted returns external_ids of nb.
func (u *realUnit) noted() map[string]string {
	u.t.Helper()
	ids, err := u.externalIDs(u.t.Context(), ovndb.NB)
	require.NoError(u.t, err)
	return ids
}

// withoutAnEntry removes an entry from a database's file, like a failed write.
func withoutAnEntry(t *testing.T, text []byte) []byte {
	t.Helper()
	const mark = "OVSDB CLUSTER "
	records := strings.Split(string(text), mark)
	var entries []int
	for i, r := range records {
		if strings.Contains(r, `"index":`) {
			entries = append(entries, i)
		}
	}
	require.Greater(t, len(entries), 2)
	return []byte(strings.Join(slices.Delete(records, entries[1], entries[1]+1), mark))
}

// R1, R5: another unit was stopped after it had recorded that it takes its server down. Until that record ends, a
// unit that is being removed does not stop its unreadable server: one of three would be left. Then it stops the
// server, and waits until the process has ended.
func TestR5_unreadable_server_waits_for_other_change(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	a, c := units[0], units[2]
	m, own := going(c, units...), c.id(ovndb.NB)
	held := a.lockNB()
	held.intend(t, lease.Down, a.id(ovndb.NB))
	require.NoError(t, os.Remove(c.Control.Paths.Control(ovndb.NB)))

	c.hasten()
	_, err := c.Stop(t.Context(), m, observe.Cache{})
	assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err))
	assert.Len(t, a.record().Intents, 1, "it has noted nothing of its own")
	assert.NoError(t, c.servers[ovndb.NB].Signal(syscall.Signal(0)))

	held.held = lease.Held{Record: a.record(), Written: a.Now()} // it continues, and notices that its time has passed
	held.release(t.Context(), nil, func(lease.Intent) bool { return true })
	require.Empty(t, a.record().Intents)
	c.Now = time.Now
	// systemd reports that the service has stopped, but here the process does not belong to the service.
	_, err = c.Stop(t.Context(), m, observe.Cache{})
	require.ErrorAs(t, err, new(*PendingError))
	assert.Equal(t, []lease.Intent{{ID: string(own), Kind: lease.Down, By: c.Env.Unit, From: string(own)}},
		a.record().Intents)

	c.kill(ovndb.NB)
	results, err := c.Stop(t.Context(), m, observe.Cache{})
	require.NoError(t, err)
	assert.Equal(t, finding.ServerNotRunning, results[0].Reasons[0].Code)
}

// R0, R1: with another member down, one of three would be left. A member whose file lacks entries counts as down even
// if it answers.
func TestR1_unreadable_server_is_needed_for_majority(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*realUnit){
		"another is down": func(u *realUnit) { u.kill(ovndb.NB) },
		"another is damaged": func(u *realUnit) {
			u.nbctl("init")
			require.NoError(t, u.PublishDamage(t.Context(), u.nb(), "record 9 has entry 8"))
		},
	} {
		units := realCluster(t, 3, ovndb.NB)
		a, c := units[0], units[2]
		m := going(c, units...)
		spoil(units[1])
		require.NoError(t, os.Remove(c.Control.Paths.Control(ovndb.NB)), name)
		_, err := c.Stop(t.Context(), m, observe.Cache{})
		assert.Equal(t, []string{"nb SERVER_UNREADABLE"}, findingtest.Codes(err), name)
		assert.Empty(t, a.record().Intents, "%s: nothing was begun", name)
		assert.Empty(t, a.record().Holder, name)
		assert.NoError(t, c.servers[ovndb.NB].Signal(syscall.Signal(0)), name)
	}
}

// R3: only the first digits of a member without a unit are known, and the operator has typed more, which are wrong. The
// server refuses the kick.
func TestR3_kick_with_wrong_digits_is_refused(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	u, gone := units[0], units[2]
	m := model(u, u, units[1])
	id := gone.id(ovndb.NB)
	gone.kill(ovndb.NB)
	u.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(id.Short()) })
	results, err := u.Kick(t.Context(), m, kickNB(id[:len(id)-12]+"ffffffffffff"))
	require.NoError(t, err)
	assert.Equal(t, Refused, results[0].Outcome, "%v", results[0])
	assert.True(t, finding.Has(results[0].Against, finding.UnknownMember))
	assert.Empty(t, u.lockNB().pending(), "nothing was begun")
	results, err = u.Kick(t.Context(), m, kickNB(id))
	require.NoError(t, err)
	assert.Equal(t, Removed, results[0].Outcome, "%v", results[0])
}
