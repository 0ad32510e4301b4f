package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/client"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/juju"
)

// convergence bounds the time until the model settles after a change, including the installation of packages.
const convergence = 4 * time.Minute

// story is a deployment and its history.
type story struct {
	*juju.Application
	fleet     *machines.Fleet
	life      *cluster.Story
	newClient func() (*client.Client, error) // the same each time
	client    *client.Client                 // nil: it is not connected yet
	retired   bool                           // a node was, with its unit
}

// newStory opens a fleet and a controller without units. A machine becomes the client during the deployment.
func newStory(t *testing.T, charm string, o machines.Options) (context.Context, *story) {
	t.Helper()
	dir := t.TempDir()
	o.Shares = append(o.Shares, machines.Share{Host: dir, Machine: juju.Mount})
	ctx, fleet := open(t, o)
	controller, err := juju.Serve(ctx, jujuRunner(t), dir, charm)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, controller.Close()) })
	app, end := juju.Live(ctx, controller, fleet, t.Output())
	t.Cleanup(end)
	s := &story{Application: app, fleet: fleet, life: &cluster.Story{
		App: app, Runner: cluster.Machines, CA: "vault", Options: map[string]string{"source": "distro"}, // else of Ubuntu's cloud archive
		Limit: 10 * time.Minute, Every: 500 * time.Millisecond, Out: t.Output(),
	}}
	s.life.Settled, s.life.Served = s.rest, s.serves
	s.newClient = sync.OnceValues(func() (*client.Client, error) {
		booted, err := fleet.Boot(ctx, 1)
		if err != nil {
			return nil, err
		}
		return client.New(ctx, booted[0], app.CA)
	})
	go s.newClient() //nolint:errcheck // the connection shows the error
	return ctx, s
}

// part is a part of a test, which depends on the parts before it.
type part struct {
	name string
	play func(context.Context, *testing.T)
}

// play runs parts, and logs how long no write was acknowledged in each.
func (s *story) play(ctx context.Context, t *testing.T, parts []part) {
	t.Helper()
	for _, p := range parts {
		began := time.Now()
		if !t.Run(p.name, func(t *testing.T) { p.play(ctx, t) }) {
			t.Fatalf("the parts after %q stand on it", p.name)
		}
		t.Logf("%s: %v", p.name, time.Since(began).Round(time.Second))
		if s.client == nil {
			continue
		}
		for db, gap := range s.client.LongestGap(began) {
			if gap == 0 {
				continue // the writer has ended
			}
			t.Logf("  the longest time without an acknowledged write to %s: %.2f s", db, gap.Seconds())
		}
	}
}

// told is a step that all runners share.
func (s *story) told(step cluster.Step) part {
	return part{step.Name, func(ctx context.Context, t *testing.T) {
		s.life.Leaving = func(ctx context.Context, unit string) (func() error, error) { return s.leaves(ctx, t, unit), nil }
		require.NoError(t, s.life.Take(ctx, step))
	}}
}

func (s *story) deploy(ctx context.Context, t *testing.T) {
	t.Helper()
	judged := s.life.Begin(ctx)
	require.NoError(t, s.life.Take(ctx, cluster.Deployed))
	require.NoError(t, s.life.Take(ctx, cluster.Certified))
	wrong, err := judged()
	require.NoError(t, err)
	assert.Empty(t, wrong)
}

// alive returns the units that are in the model and not dying, in order.
func (s *story) alive(ctx context.Context, t *testing.T) []string {
	t.Helper()
	units, err := s.Alive(ctx)
	require.NoError(t, err)
	return units
}

func otherThan(unit string, units []string) string {
	if units[0] == unit {
		return units[1]
	}
	return units[0]
}

// each runs a script on the machine of each living unit, and returns the output.
func (s *story) each(ctx context.Context, t *testing.T, script string) map[string]string {
	t.Helper()
	printed := map[string]string{}
	for _, unit := range s.alive(ctx, t) {
		out, err := s.Machines[unit].Shell(ctx, script)
		require.NoError(t, err, unit)
		printed[unit] = out
	}
	return printed
}

// ctl runs one of OVN's programs on a unit, leader or not.
func (s *story) ctl(ctx context.Context, t *testing.T, unit string, command ...string) string {
	t.Helper()
	out, err := s.Machines[unit].Exec(ctx, slices.Insert(command, 1, "--no-leader-only", "--timeout=30")...)
	require.NoError(t, err)
	return strings.TrimSpace(out)
}

func (s *story) settle(ctx context.Context, t *testing.T) {
	t.Helper()
	require.NoError(t, s.rest(ctx))
}

func (s *story) rest(ctx context.Context) error {
	return await(ctx, convergence, func() error { return s.settled(ctx) })
}

// settled returns what is missing until agents are idle, units active, clusters complete, and the client informed.
func (s *story) settled(ctx context.Context) error {
	failed, err := s.Settled(ctx, convergence)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("agents are in error: %v", failed)
	}
	status, err := s.Status(ctx)
	if err != nil {
		return err
	}
	for unit, u := range status.Units {
		if u.Life == "alive" && u.Workload.Status != "active" {
			return fmt.Errorf("%s is %s: %s", unit, u.Workload.Status, u.Workload.Message)
		}
	}
	if err := s.membersAreUnits(ctx); err != nil || s.client == nil {
		return err
	}
	return s.followRelations(ctx)
}

func (s *story) membersAreUnits(ctx context.Context) error {
	units, err := s.Alive(ctx)
	if err != nil {
		return err
	}
	for _, db := range databases {
		var want []string
		for _, unit := range units {
			want = append(want, raftAddress(s.Machines[unit], db.raftPort))
		}
		slices.Sort(want)
		for _, unit := range units {
			status, err := clusterStatus(ctx, s.Machines[unit], db)
			if err != nil {
				return err
			}
			var have []string
			for _, member := range status.Servers {
				have = append(have, member.Address)
			}
			slices.Sort(have)
			if !slices.Equal(have, want) || !status.HasLeader() {
				return fmt.Errorf("%s of %s has the members %v, not %v, and the leader %s", db.schema, unit, have, want, status.Leader)
			}
		}
	}
	return nil
}

func (s *story) leaderOf(ctx context.Context, t *testing.T, db database) string {
	t.Helper()
	for _, unit := range s.alive(ctx, t) {
		status, err := clusterStatus(ctx, s.Machines[unit], db)
		require.NoError(t, err)
		if status.Leader == raft.Self {
			return unit
		}
	}
	require.Fail(t, "no unit leads "+db.schema)
	return ""
}

// remove removes a unit, and waits until the others have settled.
func (s *story) remove(ctx context.Context, t *testing.T, unit string) {
	t.Helper()
	require.NoError(t, s.Remove(ctx, unit, false))
	eventually(ctx, t, convergence, func() error {
		status, err := s.Status(ctx)
		if u := status.Units[unit]; err == nil && u.Life != "dead" {
			err = fmt.Errorf("%s is %s, agent %s %s, workload %s %s, hooks %s", unit, u.Life, u.Agent.Status, u.Agent.Message,
				u.Workload.Status, u.Workload.Message, strings.Join(u.Hooks[max(0, len(u.Hooks)-3):], ", "))
		}
		return err
	})
	s.settle(ctx, t)
}

func clusterStatus(ctx context.Context, m *machines.Machine, db database) (raft.Status, error) {
	text, err := m.Exec(ctx, "ovs-appctl", "--timeout=5", "-t", "/var/run/ovn/ovn"+db.short+"_db.ctl",
		"cluster/status", db.schema)
	if err != nil {
		return raft.Status{}, err
	}
	return raft.Parse(text)
}
