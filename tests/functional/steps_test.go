package functional

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
	"github.com/ovn-central/ovn-central-operator/tests/writes"
)

// patience bounds what should take seconds, on a machine with other tests.
const patience = 3 * time.Minute

// model is a lab whose steps fail the test.
type model struct {
	*lab.Lab
	t     *testing.T
	units []*lab.Unit
}

// deploy starts a lab with n units that are members of both clusters.
func deploy(t *testing.T, n int) *model {
	return deployWith(t, n, lab.Options{ElectionTimer: time.Second})
}

func deployWith(t *testing.T, n int, o lab.Options) *model {
	t.Helper()
	t.Parallel()
	return furnish(t, n, o)
}

// furnish makes the lab of deployWith, or another one of the same test.
func furnish(t *testing.T, n int, o lab.Options) *model {
	t.Helper()
	o.Charm, o.Program, o.Log, o.Scenario = before, program, t.Output(), t.Name()
	l, err := lab.New(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	m := &model{Lab: l, t: t}
	timer := max(o.ElectionTimer, time.Second)
	require.NoError(t, m.Configure(t.Context(), map[string]string{
		"source": "distro", "ovsdb-server-election-timer": strconv.Itoa(int(timer.Seconds())),
	}))
	_, err = m.RelateCA(t.Context())
	require.NoError(t, err)
	if n > 0 {
		m.units, err = l.AddUnits(t.Context(), n)
		require.NoError(t, err)
	}
	require.NoError(t, m.Refresh(t.Context(), charmDir))
	return m
}

// leader is that of a database's cluster; followers are those of the Northbound
// cluster.
func (m *model) leader(db lab.DB) *lab.Unit {
	m.t.Helper()
	u, err := m.RaftLeader(m.t.Context(), db)
	require.NoError(m.t, err)
	return u
}

func (m *model) followers() []*lab.Unit {
	m.t.Helper()
	leader := m.leader(lab.NB)
	var all []*lab.Unit
	for _, u := range m.rest() {
		if u.Name() != leader.Name() {
			all = append(all, u)
		}
	}
	return all
}

// rest are the units that are in the model.
func (m *model) rest() []*lab.Unit {
	var all []*lab.Unit
	for _, u := range m.units {
		if !u.Removed() {
			all = append(all, u)
		}
	}
	return all
}

// sameLeader makes one unit lead both databases, and returns it.
func (m *model) sameLeader() *lab.Unit {
	m.t.Helper()
	leader := m.leader(lab.NB)
	m.makeLeader(leader, lab.SB)
	return leader
}

// makeLeader has a unit elected. A leader hands over to the first of its list, which is
// the same on all members, so that two would hand it to and fro: the others are kept from
// asking for votes meanwhile. They are let go after a while, as a unit that lacks an entry
// of theirs is given it by a leader only, and no votes before.
func (m *model) makeLeader(u *lab.Unit, db lab.DB) {
	m.t.Helper()
	test := func(on *lab.Unit, what string) {
		_, err := on.Appctl(m.t.Context(), db, "cluster/failure-test", what)
		require.NoError(m.t, err)
	}
	leads := func(u *lab.Unit) bool {
		s, err := m.status(u, db)
		return err == nil && s.Role == raft.Leader
	}
	others := slices.DeleteFunc(m.rest(), func(o *lab.Unit) bool { return o.Name() == u.Name() || !o.Running(db) })
	m.eventually(u.Name()+" leads", func() bool {
		leader := m.leader(db)
		if leader.Name() == u.Name() {
			return true
		}
		for _, other := range others {
			test(other, "dont-send-vote-request")
		}
		test(leader, "transfer-leadership")
		m.within(votes, func() bool { return !leads(leader) })
		test(leader, "dont-send-vote-request")
		elected := m.within(votes, func() bool { return leads(u) })
		for _, other := range others {
			test(other, "clear")
		}
		return elected
	})
}

// votes bounds an election that makeLeader arranges.
const votes = 10 * time.Second

// status is what a unit's server says.
func (m *model) status(u *lab.Unit, db lab.DB) (raft.Status, error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Second)
	defer cancel()
	text, err := u.Status(ctx, db)
	if err != nil {
		return raft.Status{}, err
	}
	s, err := raft.Parse(text)
	require.NoError(m.t, err)
	return s, nil
}

func (m *model) id(u *lab.Unit, db lab.DB) string {
	m.t.Helper()
	id, err := u.ServerID(m.t.Context(), db)
	require.NoError(m.t, err)
	return id
}

func (m *model) short(u *lab.Unit, db lab.DB) string { return m.id(u, db)[:4] }

// members are the identities in the configuration as u sees it.
func (m *model) members(u *lab.Unit, db lab.DB) []string {
	m.t.Helper()
	s, err := m.status(u, db)
	require.NoError(m.t, err)
	var all []string
	for _, row := range s.Servers {
		all = append(all, row.Short)
	}
	return all
}

// requireMembers waits until every unit of the list sees exactly these members,
// with a leader.
func (m *model) requireMembers(units ...*lab.Unit) {
	m.t.Helper()
	for _, db := range lab.Databases {
		var want []string
		for _, u := range units {
			want = append(want, m.short(u, db))
		}
		for _, u := range units {
			m.eventually(string(db)+" has the right members", func() bool {
				s, err := m.status(u, db)
				if err != nil || !s.HasLeader() || s.State != raft.ClusterMember || len(s.Servers) != len(want) {
					return false
				}
				for _, row := range s.Servers {
					if !slices.Contains(want, row.Short) {
						return false
					}
				}
				return true
			})
		}
	}
}

// requireWritable makes a write to both databases, through any member.
func (m *model) requireWritable() {
	m.t.Helper()
	u := m.rest()[0]
	for db, write := range map[lab.DB][]string{
		lab.NB: {"ovn-nbctl", "ls-add", "writable"}, lab.SB: {"ovn-sbctl", "create", "Address_Set", "name=writable"},
	} {
		args := append([]string{"--timeout=30", "--db=" + m.Remotes(db)}, write[1:]...)
		_, err := u.Exec(m.t.Context(), write[0], args...)
		require.NoError(m.t, err, "a write to %s", db)
	}
}

// verified asserts that no acknowledged write is lost.
func (m *model) verified(w *lab.Writer) map[lab.DB]writes.Outcome {
	m.t.Helper()
	all, err := w.Verify(m.t.Context())
	require.NoError(m.t, err)
	for db, writes := range all {
		require.Zero(m.t, writes.Lost, "acknowledged writes to %s that are lost", db)
	}
	return all
}

// wait lets a load run for a while; nothing is expected at its end.
func (m *model) wait(d time.Duration) {
	m.t.Helper()
	select {
	case <-time.After(d):
	case <-m.t.Context().Done():
	}
}

// eventually asks until it is so, in the test's own goroutine: what is asked may require
// something itself.
func (m *model) eventually(what string, condition func() bool) {
	m.t.Helper()
	require.True(m.t, m.within(patience, condition), what)
}

// within reports whether a condition came true in time.
func (m *model) within(d time.Duration, condition func() bool) bool {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), d)
	defer cancel()
	for !condition() {
		if poll.Wait(ctx, 50*time.Millisecond) != nil {
			return false
		}
	}
	return true
}

// remove removes a unit and requires that it goes.
func (m *model) remove(u *lab.Unit) {
	m.t.Helper()
	require.NoError(m.t, m.RemoveUnit(m.t.Context(), u, lab.RemoveOptions{}))
	require.True(m.t, u.Removed())
}

// refuseRemoval removes a unit and requires that its hook stop fails; it returns
// what the hook said.
func (m *model) refuseRemoval(u *lab.Unit) string {
	m.t.Helper()
	err := m.RemoveUnit(m.t.Context(), u, lab.RemoveOptions{})
	return m.hookFailed(err, "stop")
}

func (m *model) hookFailed(err error, hook string) string {
	m.t.Helper()
	var failed *lab.HookError
	require.ErrorAs(m.t, err, &failed)
	require.Equal(m.t, hook, failed.Hook)
	return failed.Output
}

// act runs an action and requires that it completes.
func (m *model) act(u *lab.Unit, action string, args ...string) map[string]string {
	m.t.Helper()
	r, err := m.RunAction(m.t.Context(), u, action, args...)
	require.NoError(m.t, err)
	require.Equal(m.t, "completed", r.Status, "%s\n%v", r.Message, r.Results)
	return r.Results
}

// refuse runs a kick and requires that it fails; it returns the message.
func (m *model) refuse(u *lab.Unit, args ...string) string {
	m.t.Helper()
	r, err := m.RunAction(m.t.Context(), u, "kick", args...)
	require.NoError(m.t, err)
	require.Equal(m.t, "failed", r.Status, "%v", r.Results)
	require.Equal(m.t, "0", r.Results["return-code"], "Juju drops the message of an action that exits with another code")
	return r.Message
}

// kick is the command that an operator types for members of both databases.
func kickArgs(sb, nb string, more ...string) []string {
	var args []string
	if sb != "" {
		args = append(args, "sb-identity="+sb)
	}
	if nb != "" {
		args = append(args, "nb-identity="+nb)
	}
	return append(append(args, "i-really-mean-it=true"), more...)
}

// typed runs a command that the charm has printed, as an operator would paste it.
func (m *model) typed(command string) lab.ActionResult {
	m.t.Helper()
	words := strings.Fields(strings.ReplaceAll(command, "'", "")) // around an ID that is a number, for the shell
	require.GreaterOrEqual(m.t, len(words), 4, command)
	require.Equal(m.t, []string{"juju", "run"}, words[:2])
	u, err := m.Unit(words[2])
	require.NoError(m.t, err)
	r, err := m.RunAction(m.t.Context(), u, words[3], words[4:]...)
	require.NoError(m.t, err, command)
	return r
}

// killServers makes a unit's servers die without leaving, while the unit stays
// in the model.
func (m *model) killServers(u *lab.Unit) {
	m.t.Helper()
	for _, db := range lab.Databases {
		require.NoError(m.t, u.Kill(db))
	}
}

// powerOff makes units' machines end, while the units stay in the model: nothing
// starts their servers again.
func (m *model) powerOff(units ...*lab.Unit) {
	m.t.Helper()
	for _, u := range units {
		require.NoError(m.t, u.PowerOff())
	}
}

// addSilent adds a unit that runs no hook, and so publishes nothing and joins
// nothing by itself, before [lab.Lab.Settle].
func (m *model) addSilent() *lab.Unit {
	m.t.Helper()
	u, err := m.AddUnitWith(m.t.Context(), lab.AddOptions{NoDatabases: true, NoHooks: true})
	require.NoError(m.t, err)
	return u
}

// vanish removes a unit by force: its machine is gone, no hook has run.
func (m *model) vanish(u *lab.Unit) {
	m.t.Helper()
	require.NoError(m.t, m.RemoveUnit(m.t.Context(), u, lab.RemoveOptions{Force: true}))
}

// requireDown waits until the cluster's leader has missed the unit's server for
// longer than the election timer.
func (m *model) requireDown(gone ...*lab.Unit) {
	m.t.Helper()
	for _, db := range lab.Databases {
		for _, u := range gone {
			id := m.short(u, db)
			m.eventually("a leader that misses "+id, func() bool {
				s, err := m.status(m.leader(db), db)
				if err != nil || s.Role != raft.Leader {
					return false
				}
				for _, row := range s.Servers {
					if row.Short == id {
						return row.LastMsg != nil && *row.LastMsg > s.ElectionTimer
					}
				}
				return true
			})
		}
	}
}

// leftFiles are the archived database files of a unit.
func leftFiles(t *testing.T, u *lab.Unit) (left, live []string) {
	t.Helper()
	out, err := u.Exec(t.Context(), "ls", u.DBDir())
	require.NoError(t, err)
	for name := range strings.FieldsSeq(out) {
		switch {
		case strings.Contains(name, ".db.left-"):
			left = append(left, name)
		case strings.HasSuffix(name, ".db"):
			live = append(live, name)
		}
	}
	return left, live
}

// lineWith finds the rest of the line after mark.
func lineWith(t *testing.T, text, mark string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, mark)
	require.True(t, found, "%q in:\n%s", mark, text)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
