//go:build programs

package membership

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
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

// realUnit is a unit whose servers run, in a cluster with those of others.
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

// realCluster are n units whose servers of the databases are in one cluster each,
// led by the first.
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
			Files: ovsctl.Files{Runner: services{}, Paths: paths}, Services: systemd.Services{Runner: services{}}, Dialer: new(ovsdb.Dialer),
			Clients: func() (map[ovndb.Database]ovndb.Clients, error) { return nil, nil }, // other tests have some on this machine
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

func (u *realUnit) kill(d ovndb.Database) {
	u.t.Helper()
	u.servers[d].Kill(u.t)
}

// model has the units that exist, by their servers.
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
	out, err := exec.CommandContext(ctx, "ovn-nbctl", append([]string{"--no-leader-only", "--db=unix:" + u.Control.Paths.Socket(ovndb.NB)}, args...)...).CombinedOutput()
	require.NoError(u.t, err, string(out))
}

func kickNB(id raft.ID) KickRequest {
	return KickRequest{IDs: map[ovndb.Database]raft.IDArgument{ovndb.NB: {Text: string(id)}}, Confirmed: true}
}
