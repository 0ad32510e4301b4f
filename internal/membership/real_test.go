//go:build programs

package membership

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// realUnit is a unit with real servers.
type realUnit struct {
	*Changer
	observer *observe.Observer
	t        *testing.T
	servers  map[ovndb.Database]*ovsdbtest.Server
}

type services struct{ run.Exec }

func (s services) Run(ctx context.Context, c run.Command) ([]byte, error) {
	if c.Name == "systemctl" {
		return runtest.Stopped(), nil
	}
	return s.Exec.Run(ctx, c)
}

// realCluster returns n units whose servers form one cluster for each database, led by the first unit.
func realCluster(t *testing.T, n int, databases ...ovndb.Database) []*realUnit {
	t.Helper()
	network := loopbacktest.Network(t)
	goal, members := map[string]juju.UnitGoal{}, map[ovndb.Database][]*ovsdbtest.Server{}
	var units []*realUnit
	for i := range n {
		dir := t.TempDir()
		u := &realUnit{t: t, servers: map[ovndb.Database]*ovsdbtest.Server{}}
		paths := ovndb.Paths{Run: dir, DB: dir}
		name := fmt.Sprintf("ovn-central/%d", i)
		goal[name] = juju.UnitGoal{Status: "active"}
		machine := &observe.Machine{
			Env: juju.Env{Unit: name, App: "ovn-central"}, Control: ovsctl.Control{Runner: services{}, Paths: paths},
			Files: ovsctl.Files{
				Runner: services{}, Paths: paths,
			}, Services: systemd.Services{Runner: services{}}, Dialer: new(ovsdb.Dialer),
			// Other tests have clients on this machine.
			Clients: func() (map[ovndb.Database]ovndb.Clients, error) { return nil, nil },
			Now:     time.Now,
			Log:     slog.New(slog.DiscardHandler),
		}
		u.observer = &observe.Observer{Machine: machine}
		u.Changer = &Changer{
			Machine: machine, Observer: u.observer,
			Goal:     func(context.Context) (juju.GoalState, error) { return juju.GoalState{Units: goal}, nil },
			Progress: func(context.Context, string) {},
		}
		units = append(units, u)
		for _, d := range databases {
			s := ovsdbtest.New(t, d, fmt.Sprintf("%s.%d", network, i+1))
			s.Paths, s.Options = paths, []string{ovsdbtest.Remote(ovsdb.Endpoints(d, s.Address)[0])}
			u.servers[d], members[d] = s, append(members[d], s)
		}
	}
	for _, d := range databases {
		ovsdbtest.Form(t, members[d]...)
	}
	return units
}

func (u *realUnit) until(d ovndb.Database, ok func(raft.Status) bool) {
	u.t.Helper()
	require.Eventually(u.t, func() bool {
		s, err := u.Control.Status(u.t.Context(), d)
		return err == nil && ok(s)
	}, 20*time.Second, 10*time.Millisecond)
}

func (u *realUnit) id(d ovndb.Database) raft.ID {
	u.t.Helper()
	s, err := u.Control.Status(u.t.Context(), d)
	require.NoError(u.t, err)
	return s.Server
}

// nb returns the unit's server of the Northbound database.
func (u *realUnit) nb() observe.ServerState { return u.observer.ObserveServer(u.t.Context(), ovndb.NB) }

// lockNB takes the lock of the Northbound database.
func (u *realUnit) lockNB() *lock {
	u.t.Helper()
	held, err := u.lock(u.t.Context(), u.nb(), never)
	require.NoError(u.t, err)
	return held
}

// intend records an intent. The returned context ends when it is too late to begin.
func (k *lock) intend(t *testing.T, kind lease.Kind, id raft.ID) context.Context {
	t.Helper()
	limited, cancel, err := k.recordIntent(t.Context(), kind, string(id))
	require.NoError(t, err)
	t.Cleanup(cancel)
	return limited
}

// forbidden is an act that fails the test, since the lock must not permit it.
func (u *realUnit) forbidden(context.Context, Gate) error {
	assert.Fail(u.t, "it was permitted")
	return nil
}

// allowed is an act that does nothing.
func allowed(context.Context, Gate) error { return nil }

func (u *realUnit) kill(d ovndb.Database) {
	u.t.Helper()
	u.servers[d].Kill(u.t)
}

// model returns the application of these units.
func model(self *realUnit, units ...*realUnit) observe.Application {
	m := observe.Application{Unit: self.Env.Unit, Goal: map[string]juju.UnitGoal{}, Published: relation.UnitIdentities{}}
	for _, u := range units {
		m.Goal[u.Env.Unit] = juju.UnitGoal{Status: "active"}
		m.Published[u.Env.Unit] = relation.Identities{}
		for d := range u.servers {
			m.Published[u.Env.Unit][d] = relation.Identity{Server: u.id(d)}
		}
	}
	m.History = relation.History{}.Publish(m.Published)
	return m
}

func (u *realUnit) nbctl(args ...string) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ovn-nbctl",
		append([]string{"--no-leader-only", "--db=unix:" + u.Control.Paths.Socket(ovndb.NB)}, args...)...).CombinedOutput()
	require.NoError(u.t, err, string(out))
}

func kickNB(id raft.ID) KickRequest {
	return KickRequest{IDs: map[ovndb.Database]raft.IDArgument{ovndb.NB: {Text: string(id)}}, Confirmed: true}
}

// The agent of a unit that is being removed hands over first: once its member has left, the agent can no longer write
// to the database.
func TestLeave_halts_agent_first(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	leaver := units[2]
	members := -1
	leaver.BeforeLeaving = func(ctx context.Context) {
		if members >= 0 { // it is stopped twice at most
			return
		}
		members = 0
		if s, err := leaver.Control.Status(ctx, ovndb.NB); err == nil && s.HasLeader() {
			members = len(s.Servers)
		}
	}
	_, err := leaver.Stop(t.Context(), going(leaver, units...), observe.Cache{})
	require.NoError(t, err)
	assert.Equal(t, 3, members)
}

// R1, R9: stop has no relation, so it takes the addresses of the other members from the file of the down server.
func TestStop_of_down_server_asks_other_members(t *testing.T) {
	for name, c := range map[string]struct {
		members int
		// more counts further members that are down.
		more    int
		refused finding.Tally
	}{
		"one of two":                       {2, 0, finding.Tally{Up: 1, Members: 2}},
		"one of three":                     {3, 0, finding.Tally{}},
		"one of three, another one is off": {3, 1, finding.Tally{Up: 1, Members: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			units := realCluster(t, c.members, ovndb.NB)
			going := units[len(units)-1]
			m := model(going, units...)
			m.Goal[going.Env.Unit] = juju.UnitGoal{Status: "dying"}
			for _, u := range units[len(units)-1-c.more:] {
				u.kill(ovndb.NB)
			}
			_, err := going.Stop(t.Context(), m, observe.Cache{})
			if c.refused.Members == 0 {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, []string{"nb SERVER_NEEDED"}, findingtest.Codes(err))
			assert.Equal(t, c.refused, finding.Reasons(err)[0].Args.After)
		})
	}
}

// R1: sb is judged before nb is kicked, which takes up to 10 s and three election timers. A member of sb dies in
// between, so that the kick in sb would lose its quorum.
func TestR1_second_database_is_judged_again_before_kick(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB, ovndb.SB)
	m := model(units[0], units...)
	units[0].Progress = func(_ context.Context, text string) {
		if strings.HasPrefix(text, "nb: kicking") {
			units[1].kill(ovndb.SB)
			units[0].until(ovndb.SB, func(s raft.Status) bool {
				return len((raft.View{Status: s}).Peers()) == 3 && s.HasLeader()
			})
		}
	}
	results, err := units[0].Kick(t.Context(), m,
		KickRequest{Confirmed: true, Permit: raft.PermitForce, IDs: map[ovndb.Database]raft.IDArgument{
			ovndb.NB: {Text: string(units[2].id(ovndb.NB))}, ovndb.SB: {Text: string(units[2].id(ovndb.SB))},
		}})
	require.NoError(t, err)
	require.Len(t, results, 2)
	t.Log(results[0], results[1])
	assert.Equal(t, Removed, results[0].Outcome)
	assert.Equal(t, Refused, results[1].Outcome)
	s, err := units[0].Control.Status(t.Context(), ovndb.SB)
	require.NoError(t, err)
	assert.Len(t, s.Servers, 3)
	assert.True(t, s.HasLeader(), "sb still has its quorum: two of three are up")
}

// Two of four members, one of them the leader, leave at once. The second waits for the election that the first one
// causes. Both removals are recorded, even if the first unit records its own through the leaving member.
func TestLeave_two_units_at_once(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 4, ovndb.NB, ovndb.SB)
	going := []*realUnit{units[0], units[3]}
	ids := map[ovndb.Database][]raft.ID{}
	for _, d := range ovndb.Databases() {
		ids[d] = []raft.ID{units[0].id(d), units[3].id(d)}
	}
	failures := make([]error, len(going))
	var wg sync.WaitGroup
	for i, u := range going {
		m := model(u, units...)
		for _, g := range going {
			m.Goal[g.Env.Unit] = juju.UnitGoal{Status: "dying"}
		}
		wg.Go(func() { _, failures[i] = u.Stop(t.Context(), m, observe.Cache{}) })
	}
	wg.Wait()
	for _, err := range failures {
		assert.NoError(t, err)
	}
	for _, d := range ovndb.Databases() {
		// A follower returns the data that it has received so far.
		assert.EventuallyWithT(t, func(c *assert.CollectT) {
			noted, err := units[1].externalIDs(t.Context(), d)
			require.NoError(c, err)
			records := observe.RemovedServers(noted)
			for _, id := range ids[d] {
				assert.Contains(c, records, id, d)
			}
		}, 5*time.Second, 20*time.Millisecond)
	}
}
