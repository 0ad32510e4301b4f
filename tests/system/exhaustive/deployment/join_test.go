package deployment

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// maxJoin is about what a join of the filled database takes, on a machine that
// is busy.
const maxJoin = 150 * time.Millisecond

// The servers of a unit that joins are killed, whatever they have come to; systemd
// starts them again. The unit is a member in the end. Each of its servers is killed
// twice at most: one that is killed as it becomes a member stays one until it is
// kicked, and of six members three would be no majority.
func TestJoinWhoseServersAreKilledEnds(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{Restart: true})
	c.fillNorthbound()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	u := c.AddEmpty()
	units = append(units, u)
	var killers sync.WaitGroup
	for _, db := range lab.Databases {
		var delays []time.Duration
		for range 2 {
			delays = append(delays, time.Duration(random.Int64N(int64(maxJoin))))
		}
		killers.Go(func() { killStarts(t, u, db, delays) })
	}
	require.NoError(t, c.Settle(t.Context()))
	killers.Wait()
	c.Tick("it is a member", func() bool { return c.IsMember(u) })
	c.RunUpdateStatus(units...)
	c.kickLeftBehind(units...)
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(units...)
	t.Logf("%s has put away %v", u.Name(), c.PutAway(u))
}

// kickLeftBehind follows the operator's instructions for a server that was killed at the
// moment at which it became a member. Until then the unit's own server hears no
// leader: the killed server's connection to the address is taken.
func (c *cloud) kickLeftBehind(units ...*lab.Unit) {
	c.T.Helper()
	for _, db := range lab.Databases {
		known := map[string]bool{}
		for _, u := range units {
			known[c.ServerIDs(u)[string(db)][:4]] = true
		}
		s, err := c.RaftStatus(units[0], db)
		require.NoError(c.T, err)
		for _, member := range s.Servers {
			if !known[member.Short] {
				c.Act(units[0], "kick", string(db)+"-identity="+member.Short, "i-really-mean-it=true")
			}
		}
	}
}

// killStarts kills a server at these times after it was started, once for each
// of its next starts.
func killStarts(t *testing.T, u *lab.Unit, db lab.DB, delays []time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), labtest.Patience)
	defer cancel()
	last := 0
	for len(delays) > 0 && ctx.Err() == nil {
		if pid, err := u.ServerPID(db); err == nil && pid != last && u.Running(db) {
			last = pid
			pause(ctx, delays[0])
			if u.Kill(db) == nil { // else the charm has just put it away itself
				t.Logf("%s: killed its %s server after %s", u.Name(), db, delays[0])
				delays = delays[1:]
			}
		}
		pause(ctx, time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// A server that is killed after it has taken the log, and before the
// configuration with itself in it, leaves a file on which none can ever start.
func TestFileOfAServerThatHalfJoinedIsPutAwayAndTheUnitJoinsAgain(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	c.Hold(true)
	joiner := c.AddEmpty()
	c.DeliverUntil(joiner, "certificates-relation-joined")
	c.KillPending(joiner, func(call string) bool { return strings.HasPrefix(call, "systemctl start ovn-ovsdb-server-nb") })
	half := halfJoined(t, units[0].DBFile(lab.NB), joiner.DBFile(lab.NB))
	require.NoError(t, os.WriteFile(joiner.DBFile(lab.NB), half, 0o640))
	out, err := joiner.Exec(t.Context(), "ovsdb-tool", "check-cluster", joiner.DBFile(lab.NB))
	require.Contains(t, out+err.Error(), "not found in server list")
	c.Hold(false)
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("all are active", c.AllActive)
	c.RequireOneCluster(append(units, joiner)...)
	assert.Len(t, c.PutAway(joiner), 1)
	assert.Contains(t, labtest.HookLogFrom(t, joiner, 0), "the server was killed while it joined")
}

// halfJoined is the file of a member with the header's server and address from the
// file of another one that has just begun to join: so the members in the records below
// the header don't include its server.
func halfJoined(t *testing.T, member, joining string) []byte {
	t.Helper()
	theirs, rest := header(t, member)
	own, _ := header(t, joining)
	theirs["server_id"], theirs["local_address"] = own["server_id"], own["local_address"]
	text, err := json.Marshal(theirs)
	require.NoError(t, err)
	text = append(text, '\n')
	return slices.Concat(fmt.Appendf(nil, "OVSDB CLUSTER %d %x\n", len(text), sha1.Sum(text)), text, rest)
}

// header is the first record of a clustered database's file (ovsdb(5), ovsdb/log.c),
// and what follows it.
func header(t *testing.T, path string) (record map[string]any, rest []byte) {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	var size int
	var sum string
	first, rest, _ := bytes.Cut(file, []byte("\n"))
	_, err = fmt.Sscanf(string(first), "OVSDB CLUSTER %d %s", &size, &sum)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(rest[:size], &record))
	return record, rest[size:]
}

// fillNorthbound makes the Northbound database so large that a joiner takes some time to
// get it.
func (c *cloud) fillNorthbound() {
	c.T.Helper()
	args := []string{"--timeout=30", "--db=" + c.Remotes(lab.NB)}
	for n := range 200 {
		args = append(args, "--", "create", "Address_Set", "name=filler"+string(rune('a'+n/26))+string(rune('a'+n%26)), "external_ids:text="+strings.Repeat("x", 2000))
	}
	_, err := c.Exec(c.Patient(), "ovn-nbctl", args...)
	require.NoError(c.T, err)
	leader := c.LeaderOf(lab.NB)
	_, err = leader.Appctl(c.T.Context(), lab.NB, "ovsdb-server/compact")
	assert.NoError(c.T, err)
}

// A member that has taken its own removal, which the others have not, and then lost its
// power: they count on its vote, and no server starts on its file any more. The entry is
// written by hand: a server that leads when it is removed hands over first.
func TestMemberThatLostItsPowerAmidItsRemovalIsKickedBeforeItJoinsAgain(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	u, other := units[2], units[0]
	id, err := u.ServerID(t.Context(), lab.NB)
	require.NoError(t, err)
	require.NoError(t, u.PowerOff())
	takeItsRemoval(t, u.DBFile(lab.NB), id)
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.RunUpdateStatus(u)
	c.Says(u, "blocked")
	c.Finds(u, finding.FileCutOff, "nb")
	assert.Equal(t, "juju run "+u.Name()+" rejoin database=nb i-really-mean-it=true", c.NextCommands(u)[0])
	assert.Empty(t, c.PutAway(u, lab.NB))
	c.Act(other, "kick", "nb-identity="+id[:8], "force=true", "i-really-mean-it=true")
	c.Tick("it has joined again", c.AllActive)
	assert.Len(t, c.PutAway(u, lab.NB), 1)
	c.RequireOneCluster(units...)
}

// takeItsRemoval has the last entry of a member's file be the cluster without it.
func takeItsRemoval(t *testing.T, path, id string) {
	t.Helper()
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	type entry struct {
		Index   uint64            `json:"index"`
		Term    uint64            `json:"term"`
		Servers map[string]string `json:"servers,omitempty"`
	}
	var last entry
	for record := range strings.SplitSeq(string(file), "OVSDB CLUSTER ") {
		_, text, _ := strings.Cut(record, "\n")
		var e entry
		if !strings.Contains(text, `"index":`) {
			continue
		}
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		if e.Servers == nil {
			e.Servers = last.Servers
		}
		last = e
	}
	require.Contains(t, last.Servers, id)
	delete(last.Servers, id)
	last.Index++
	text, err := json.Marshal(last)
	require.NoError(t, err)
	text = append(text, '\n')
	file = append(file, fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum(text), text)...)
	require.NoError(t, os.WriteFile(path, file, 0o640))
}
