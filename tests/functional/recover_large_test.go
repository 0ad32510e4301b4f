//go:build large

package functional

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// grow writes rows of the Northbound database, of size bytes each and half a MiB at a time,
// until its file has so many MiB. It returns how many it wrote.
func (m *model) grow(mib int64, size int) (rows int) {
	m.t.Helper()
	u := m.leader(lab.NB)
	conn, err := new(net.Dialer).DialContext(m.t.Context(), "unix", filepath.Join(u.RunDir(), "ovnnb_db.sock"))
	require.NoError(m.t, err)
	defer conn.Close()
	require.NoError(m.t, conn.SetDeadline(time.Now().Add(20*time.Minute)))
	answers := json.NewDecoder(conn)
	written := func() int64 {
		found, err := os.Stat(u.DBFile(lab.NB))
		require.NoError(m.t, err)
		return found.Size()
	}
	for written() < mib<<20 {
		var inserts []string
		for range max(1, 1<<19/size) {
			rows++
			inserts = append(inserts, fmt.Sprintf(`{"op":"insert","table":"Address_Set","row":{"name":"large-%d","external_ids":["map",[["text","%s"]]]}}`, rows, strings.Repeat("x", size)))
		}
		_, err := fmt.Fprintf(conn, `{"method":"transact","id":0,"params":["OVN_Northbound",%s]}`, strings.Join(inserts, ","))
		require.NoError(m.t, err)
		var answer struct {
			Error  any
			Result []struct{ Error string }
		}
		require.NoError(m.t, answers.Decode(&answer))
		require.Nil(m.t, answer.Error)
		for _, result := range answer.Result {
			require.Empty(m.t, result.Error)
		}
	}
	return rows
}

// long runs update-status on units until the condition holds, for longer than [model.tick].
func (m *model) long(what string, condition func() bool, units ...*lab.Unit) {
	m.t.Helper()
	require.True(m.t, m.within(20*time.Minute, func() bool {
		for _, u := range units {
			require.NoError(m.t, m.RunHook(m.t.Context(), u, "update-status"))
		}
		require.NoError(m.t, m.Settle(m.t.Context()))
		return condition()
	}), what)
}

// counted is how many of those rows a unit's server serves.
func (m *model) counted(u *lab.Unit) int {
	m.t.Helper()
	out, err := u.Exec(m.t.Context(), "ovn-nbctl", "--timeout=100", "--no-leader-only", "--db=unix:"+filepath.Join(u.RunDir(), "ovnnb_db.sock"), "--bare", "--columns=name", "list", "Address_Set")
	require.NoError(m.t, err)
	return strings.Count(out, "large-")
}

// A lost quorum of a Northbound database of hundreds of MiB, or of RECOVER_MIB, is recovered, and its backup
// restored: everything that takes as long as the data are large is waited for.
func TestRecoverOfADatabaseOf300MiB(t *testing.T) {
	size, err := strconv.ParseInt(cmp.Or(os.Getenv("RECOVER_MIB"), "300"), 10, 64)
	require.NoError(t, err)
	for _, of := range []struct {
		name string
		row  int
	}{{"rows of 1 KiB", 1 << 10}, {"rows of 256 KiB", 256 << 10}} {
		t.Run(of.name, func(t *testing.T) {
			m := furnish(t, 3, lab.Options{ElectionTimer: 16 * time.Second, HookTimeout: 20 * time.Minute}) // as long as an action may take
			u, others := m.units[0], m.units[1:]
			rows := m.grow(size, of.row)
			took := func(what string, begun time.Time) {
				t.Logf("%s: %s took %s", of.name, what, time.Since(begun).Round(100*time.Millisecond))
			}
			m.eventually("all units serve all rows", func() bool { return m.counted(u) == rows })
			begun := time.Now()
			dir := m.act(u, "backup")["backup"]
			took("a backup", begun)
			require.Len(t, m.lose(others...), 1)

			lost := "give-up=" + names(others)
			// A server calls itself connected for up to two election timers more.
			m.eventually("recover is not refused any more", func() bool {
				r, err := m.RunAction(t.Context(), u, "recover", lost, "dry-run=true")
				require.NoError(t, err)
				return !strings.Contains(fmt.Sprint(r.Message, r.Results), "the cluster has a quorum")
			})
			begun = time.Now()
			shown := m.act(u, "recover", lost, "i-really-mean-it=true")
			took("recover", begun)
			t.Log(shown["status"])
			m.long("a new cluster", allMembers(m, u), u)
			took("a new cluster of one", begun)
			assert.Equal(t, rows, m.counted(u))
			m.requireProof(m.act(u, "recover", lost, "i-really-mean-it=true"), u)

			begun = time.Now()
			for _, other := range others {
				require.NoError(t, other.PowerOn(t.Context()))
			}
			m.long("all are members", allMembers(m, m.units...), m.units...)
			m.eventually("all units serve all rows", func() bool { return m.counted(others[0]) == rows && m.counted(others[1]) == rows })
			took("that the others join", begun)
			m.requireProof(m.act(u, "recover", lost, "i-really-mean-it=true"), m.units...)

			m.addSwitch("after")
			begun = time.Now()
			m.act(u, "restore", "from="+dir, "i-really-mean-it=true")
			took("restore", begun)
			m.long("all serve the backup", func() bool {
				return allMembers(m, m.units...)() && !strings.Contains(m.seen(u), "after")
			}, m.units...)
			for _, each := range m.units {
				m.eventually("all rows are served", func() bool { return m.counted(each) == rows })
			}
			took("that all serve it", begun)
			m.requireProof(m.act(u, "restore", "from="+dir, "i-really-mean-it=true"), m.units...)
			m.requireWritable()
		})
	}
}
