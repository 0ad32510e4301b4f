//go:build programs

package membership

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// realUnit is a unit whose servers run, in a cluster with those of others.
type realUnit struct {
	*Changer
	observer *observe.Observer
	t        *testing.T
	host     string
	cmd      map[ovndb.Database]*exec.Cmd
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
	goal := map[string]juju.UnitGoal{}
	var units []*realUnit
	for i := range n {
		dir := t.TempDir()
		u := &realUnit{t: t, host: fmt.Sprintf("%s.%d", network, i+1), cmd: map[ovndb.Database]*exec.Cmd{}}
		paths := ovndb.Paths{Run: dir, DB: dir}
		name := fmt.Sprintf("ovn-central/%d", i)
		goal[name] = juju.UnitGoal{Status: "active"}
		machine := &observe.Machine{
			Env: juju.Env{Unit: name, App: "ovn-central"}, Control: ovn.Control{Runner: services{}, Paths: paths},
			Files: ovn.Files{Runner: services{}, Paths: paths}, Services: ovn.Services{Runner: services{}}, Dialer: new(ovsdb.Dialer),
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
			u.start(d, units[0])
		}
	}
	for _, u := range units {
		for _, d := range databases {
			u.until(d, func(s raft.Status) bool { return len(s.Servers) == n && s.HasLeader() })
		}
	}
	return units
}

func (u *realUnit) address(d ovndb.Database) string {
	return "tcp:" + u.host + ":" + fmt.Sprint(ovndb.RaftPort(d))
}

func (u *realUnit) start(d ovndb.Database, first *realUnit) {
	u.t.Helper()
	paths := u.Control.Paths
	args := []string{"join-cluster", paths.File(d), string(d), u.address(d), first.address(d)}
	if u == first {
		args = []string{"create-cluster", paths.File(d), "/usr/share/ovn/ovn-" + d.Short() + ".ovsschema", u.address(d)}
	}
	require.NoError(u.t, exec.CommandContext(u.t.Context(), "ovsdb-tool", args...).Run())
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(ovsdb.Endpoints(d, u.address(d))[0], "tcp:"))
	cmd := exec.CommandContext(u.t.Context(), "ovsdb-server", "-vconsole:off", "--log-file="+filepath.Join(paths.Run, d.Short()+".log"),
		"--unixctl="+paths.Control(d), "--remote=punix:"+paths.Socket(d), "--remote=ptcp:"+port+":"+u.host, paths.File(d))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(u.t, cmd.Start())
	u.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	u.cmd[d] = cmd
	u.until(d, func(s raft.Status) bool { return s.State == raft.ClusterMember && s.HasLeader() })
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
	_ = u.cmd[d].Process.Kill()
	_ = u.cmd[d].Wait()
}

// model has the units that exist, by their servers.
func model(self *realUnit, units ...*realUnit) observe.Application {
	m := observe.Application{Unit: self.Env.Unit, Goal: map[string]juju.UnitGoal{}, Published: relation.UnitIdentities{}}
	for _, u := range units {
		m.Goal[u.Env.Unit] = juju.UnitGoal{Status: "active"}
		m.Published[u.Env.Unit] = relation.Identities{}
		for d := range u.cmd {
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
