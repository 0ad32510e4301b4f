package labtest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/writes"
)

// Patience bounds waits that should take seconds, on a machine with other tests.
const Patience = 3 * time.Minute

// Model is a lab whose steps fail the test.
type Model struct {
	*lab.Lab
	T        *testing.T
	Deployed []*lab.Unit
	// Certificates, Chassis and CMS are the numbers of relations, or 0.
	Certificates, Chassis, CMS int
}

// Deploy starts a lab with n units that are members of both clusters. Only for the first test of a process that asks
// for n units do their hooks run; the others get copies of its lab, as it was then.
func Deploy(t *testing.T, n int) *Model {
	return DeployWith(t, n, lab.Options{ElectionTimer: time.Second})
}

// DeployWith is like Deploy, with options of the lab.
func DeployWith(t *testing.T, n int, o lab.Options) *Model {
	t.Helper()
	t.Parallel()
	return copied(t, "laid out", n, o, New)
}

// New is [DeployWith] without a copy: for tests of the deployment itself, and for another application in a test.
func New(t *testing.T, n int, o lab.Options) *Model {
	t.Helper()
	o.Charm = idleCharm
	m := start(t, o)
	var err error
	timer := max(o.ElectionTimer, time.Second)
	require.NoError(t, m.Configure(t.Context(), map[string]string{
		"source": "distro", "ovsdb-server-election-timer": strconv.Itoa(int(timer.Seconds())),
	}))
	m.Certificates, err = m.RelateCA(t.Context())
	require.NoError(t, err)
	if n > 0 {
		m.Deployed, err = m.AddUnits(t.Context(), n)
		require.NoError(t, err)
	}
	m.RefreshCharm()
	return m
}

// LeaderOf returns the unit that leads a database.
func (m *Model) LeaderOf(db lab.DB) *lab.Unit {
	m.T.Helper()
	u, err := m.RaftLeader(m.T.Context(), db)
	require.NoError(m.T, err)
	return u
}

// Followers returns the units in the model that don't lead the Northbound database.
func (m *Model) Followers() []*lab.Unit {
	m.T.Helper()
	return Without(m.Remaining(), m.LeaderOf(lab.NB))
}

// Remaining returns the deployed units that are still in the model.
func (m *Model) Remaining() []*lab.Unit {
	return slices.DeleteFunc(slices.Clone(m.Deployed), (*lab.Unit).Removed)
}

// MakeOneLeader makes one unit lead both databases, and returns it.
func (m *Model) MakeOneLeader() *lab.Unit {
	m.T.Helper()
	leader := m.LeaderOf(lab.NB)
	m.MakeLeader(leader, lab.SB)
	return leader
}

// MakeLeader makes a unit win an election. A leader hands over to the first member in its list, which is the same on
// all members, so the other members are kept from asking for votes. That lasts only for a while: a unit that lacks an
// entry gets it only from a leader, and no votes before.
func (m *Model) MakeLeader(u *lab.Unit, db lab.DB) {
	m.T.Helper()
	test := func(on *lab.Unit, what string) {
		_, err := on.Appctl(m.T.Context(), db, "cluster/failure-test", what)
		require.NoError(m.T, err)
	}
	leads := func(u *lab.Unit) bool {
		s, err := m.RaftStatus(u, db)
		return err == nil && s.Role == raft.Leader
	}
	others := slices.DeleteFunc(m.Remaining(), func(o *lab.Unit) bool { return o.Name() == u.Name() || !o.Running(db) })
	m.Eventually(u.Name()+" leads", func() bool {
		leader := m.LeaderOf(db)
		if leader.Name() == u.Name() {
			return true
		}
		for _, other := range others {
			test(other, "dont-send-vote-request")
		}
		test(leader, "transfer-leadership")
		m.Within(votes, func() bool { return !leads(leader) })
		test(leader, "dont-send-vote-request")
		elected := m.Within(votes, func() bool { return leads(u) })
		for _, other := range others {
			test(other, "clear")
		}
		return elected
	})
}

const votes = 10 * time.Second

// RaftStatus returns the status of a unit's server.
func (m *Model) RaftStatus(u *lab.Unit, db lab.DB) (raft.Status, error) {
	m.T.Helper()
	ctx, cancel := context.WithTimeout(m.T.Context(), 5*time.Second)
	defer cancel()
	text, err := u.Status(ctx, db)
	if err != nil {
		return raft.Status{}, err
	}
	return raft.Parse(text)
}

// ServerID returns the server ID of a unit's member.
func (m *Model) ServerID(u *lab.Unit, db lab.DB) string {
	m.T.Helper()
	id, err := u.ServerID(m.T.Context(), db)
	require.NoError(m.T, err)
	return id
}

// ShortID returns the identity of a unit's member: four digits.
func (m *Model) ShortID(u *lab.Unit, db lab.DB) string { return m.ServerID(u, db)[:4] }

// MemberIDs returns the identities in the configuration that u sees.
func (m *Model) MemberIDs(u *lab.Unit, db lab.DB) []string {
	m.T.Helper()
	s := m.Raft(u, db)
	var all []string
	for _, row := range s.Servers {
		all = append(all, row.Short)
	}
	return all
}

// Verify stops a writer, and requires that some of its writes were acknowledged, and that none of these is lost.
func (m *Model) Verify(w *lab.Writer) map[lab.DB]writes.Outcome {
	m.T.Helper()
	var all map[lab.DB]writes.Outcome
	m.Eventually("what was written can be read", func() (read bool) { // there may be an election just now
		var err error
		all, err = w.Verify(m.T.Context())
		return err == nil
	})
	for db, writes := range all {
		m.T.Logf("%s: %+v", db, writes)
		require.Positive(m.T, writes.Acknowledged, "writes to %s", db)
		require.Zero(m.T, writes.Lost, "acknowledged writes to %s that are lost", db)
	}
	return all
}

// Wait lets a load run for a while; nothing is expected at its end.
func (m *Model) Wait(d time.Duration) {
	m.T.Helper()
	_ = poll.Wait(m.T.Context(), d) // the test may end first
}

// Eventually requires that a condition comes true within [Patience]. It runs in the test's own goroutine, so a condition
// may require something itself.
func (m *Model) Eventually(what string, condition func() bool) {
	m.T.Helper()
	require.True(m.T, m.Within(Patience, condition), what)
}

// Patient returns the test's context, limited to [Patience].
func (m *Model) Patient() context.Context {
	ctx, cancel := context.WithTimeout(m.T.Context(), Patience)
	m.T.Cleanup(cancel)
	return ctx
}

// Within reports whether a condition came true in time.
func (m *Model) Within(d time.Duration, condition func() bool) bool {
	m.T.Helper()
	return poll.Await(m.T.Context(), d, 50*time.Millisecond, nil, condition)
}

// Remove removes a unit and requires that it leaves the model.
func (m *Model) Remove(u *lab.Unit) {
	m.T.Helper()
	require.NoError(m.T, m.RemoveUnit(m.T.Context(), u, lab.RemoveOptions{}))
	require.True(m.T, u.Removed())
}

// RefuseRemoval removes a unit and requires that its hook stop fails. It returns the hook's output.
func (m *Model) RefuseRemoval(u *lab.Unit) string {
	m.T.Helper()
	err := m.RemoveUnit(m.T.Context(), u, lab.RemoveOptions{})
	return m.HookFailed(err, "stop")
}

// HookFailed requires that an error is that of a failed hook. It returns the hook's output.
func (m *Model) HookFailed(err error, hook string) string {
	m.T.Helper()
	var failed *lab.HookError
	require.ErrorAs(m.T, err, &failed)
	require.Equal(m.T, hook, failed.Hook)
	return failed.Output
}

// Act runs an action and requires that it completes.
func (m *Model) Act(u *lab.Unit, action string, args ...string) map[string]string {
	m.T.Helper()
	r, err := m.RunAction(m.T.Context(), u, action, args...)
	require.NoError(m.T, err)
	require.Equal(m.T, "completed", r.Status, "%s\n%v", r.Message, r.Results)
	return r.Results
}

// Refuse runs an action and requires that it fails; it returns the message and the results.
func (m *Model) Refuse(u *lab.Unit, action string, args ...string) string {
	m.T.Helper()
	r, err := m.RunAction(m.T.Context(), u, action, args...)
	require.NoError(m.T, err)
	require.Equal(m.T, "failed", r.Status, "%v", r.Results)
	require.Equal(m.T, "0", r.Results["return-code"], "Juju drops the message of an action that exits with another code")
	said := []string{r.Message}
	for _, key := range slices.Sorted(maps.Keys(r.Results)) {
		if key != "return-code" {
			said = append(said, r.Results[key])
		}
	}
	return strings.Join(said, "\n")
}

// KickArgs returns the command that an operator types for members of both databases.
func KickArgs(sb, nb string, more ...string) []string {
	var args []string
	if sb != "" {
		args = append(args, "sb-identity="+sb)
	}
	if nb != "" {
		args = append(args, "nb-identity="+nb)
	}
	return append(append(args, "i-really-mean-it=true"), more...)
}

// KillServers makes a unit's servers die without leaving, while the unit stays in the model.
func (m *Model) KillServers(u *lab.Unit) {
	m.T.Helper()
	for _, db := range lab.Databases {
		require.NoError(m.T, u.Kill(db))
	}
}

// PowerOff makes units' machines end, while the units stay in the model: nothing starts their servers again.
func (m *Model) PowerOff(units ...*lab.Unit) {
	m.T.Helper()
	for _, u := range units {
		require.NoError(m.T, u.PowerOff())
	}
}

// PowerOn boots the machines of units, and runs their hooks and what follows from them.
func (m *Model) PowerOn(units ...*lab.Unit) {
	m.T.Helper()
	for _, u := range units {
		require.NoError(m.T, u.PowerOn(m.T.Context()))
	}
}

// AddSilent adds a unit that runs no hook, publishes nothing and joins nothing until [lab.Lab.Settle].
func (m *Model) AddSilent() *lab.Unit {
	m.T.Helper()
	u, err := m.AddUnitWith(m.T.Context(), lab.AddOptions{NoDatabases: true, NoHooks: true})
	require.NoError(m.T, err)
	return u
}

// RemoveByForce removes a unit by force: its machine is gone, no hook has run.
func (m *Model) RemoveByForce(u *lab.Unit) {
	m.T.Helper()
	require.NoError(m.T, m.RemoveUnit(m.T.Context(), u, lab.RemoveOptions{Force: true}))
}

// RequireDown waits until the cluster's leader has missed the unit's server for longer than the election timer.
func (m *Model) RequireDown(gone ...*lab.Unit) {
	m.T.Helper()
	for _, db := range lab.Databases {
		for _, u := range gone {
			id := m.ShortID(u, db)
			m.Eventually("a leader that misses "+id, func() bool {
				s, err := m.RaftStatus(m.LeaderOf(db), db)
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

// LineWith returns the rest of the line after mark.
func LineWith(t *testing.T, text, mark string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, mark)
	require.True(t, found, "%q in:\n%s", mark, text)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
