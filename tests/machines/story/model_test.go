package story

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/machines"
	"github.com/ovn-central/ovn-central-operator/tests/machines/juju"
	"github.com/ovn-central/ovn-central-operator/tests/vault"
)

// convergence is how long the model may take to come to rest after a change,
// packages and all.
const convergence = 4 * time.Minute

// model is Juju on a fleet: the application, who plays those that it is related
// to, and which unit is on which machine.
type model struct {
	*juju.Controller
	fleet    *machines.Fleet
	machines map[string]*machines.Machine // by unit, those that were removed too

	mu           sync.Mutex
	ca           *vault.CA
	certificates int // the relation's number; 0: there is none
}

// vaultUnit is the unit that plays the CA.
const vaultUnit = "vault/0"

// newModel opens a fleet, and a controller with a charm. It has no units.
func newModel(t *testing.T, charm string, o machines.Options) (context.Context, *model) {
	t.Helper()
	dir := t.TempDir()
	o.Shares = append(o.Shares, machines.Share{Host: dir, Machine: juju.Mount})
	ctx, fleet := open(t, o, "jujud-*")
	controller, err := juju.Serve(ctx, jujuRunner(t), dir, charm)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, controller.Close()) })
	m := &model{
		Controller: controller, fleet: fleet, ca: vault.New("vault"), machines: map[string]*machines.Machine{},
	}
	m.answer(ctx, t)
	return ctx, m
}

// answerEvery is how often the CA looks for requests that it hasn't answered.
const answerEvery = 300 * time.Millisecond

// answer has the CA answer requests as they come, until the test ends.
func (m *model) answer(ctx context.Context, t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(answerEvery)
		defer ticker.Stop()
		for ctx.Err() == nil {
			if err := m.certify(ctx, false); err != nil && ctx.Err() == nil {
				t.Log(err)
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
	t.Cleanup(func() { stop(); group.Wait() })
}

// certify has the CA answer requests that are new or, with again, all of them.
func (m *model) certify(ctx context.Context, again bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.certificates == 0 {
		return nil
	}
	return m.Answer(ctx, m.certificates, vaultUnit, m.ca, again)
}

// relateVault relates the application to the CA.
func (m *model) relateVault(ctx context.Context, t *testing.T) {
	t.Helper()
	relation, err := m.Relate(ctx, "certificates", "vault", 1)
	require.NoError(t, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.certificates = relation
}

// replaceCA replaces the CA by another, which answers all requests anew.
func (m *model) replaceCA(ctx context.Context, ca *vault.CA) error {
	m.mu.Lock()
	m.ca = ca
	m.mu.Unlock()
	return m.certify(ctx, true)
}

// deploy adds a unit on each machine and starts all agents.
func (m *model) deploy(ctx context.Context, t *testing.T, on ...*machines.Machine) []string {
	t.Helper()
	units := m.addUnits(ctx, t, on...)
	for _, unit := range units {
		require.NoError(t, m.StartAgent(ctx, unit, m.machines[unit]))
	}
	return units
}

func (m *model) addUnits(ctx context.Context, t *testing.T, on ...*machines.Machine) []string {
	t.Helper()
	var units []string
	for _, machine := range on {
		unit, err := m.AddUnit(ctx, machine)
		require.NoError(t, err)
		m.machines[unit] = machine
		units = append(units, unit)
	}
	return units
}

// alive are the units that are in the model and not dying, in their order.
func (m *model) alive(ctx context.Context, t *testing.T) []string {
	t.Helper()
	status, err := m.Status(ctx)
	require.NoError(t, err)
	var units []string
	for _, unit := range slices.Sorted(maps.Keys(status.Units)) {
		if status.Units[unit].Life == "alive" {
			units = append(units, unit)
		}
	}
	return units
}

// settle waits until all agents rest, each living unit is active, and both
// clusters have the living units' members and no others.
func (m *model) settle(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		failed, err := m.Settled(ctx, convergence)
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			return fmt.Errorf("agents are in error: %v", failed)
		}
		status, err := m.Status(ctx)
		if err != nil {
			return err
		}
		for unit, s := range status.Units {
			if s.Life == "alive" && s.Workload.Status != "active" {
				// What a cluster does by itself no hook hears of, until the next update-status.
				if err := m.UpdateStatus(ctx, unit); err != nil {
					return err
				}
				return fmt.Errorf("%s is %s: %s", unit, s.Workload.Status, s.Workload.Message)
			}
		}
		return m.membersAreUnits(ctx, t)
	})
}

// membersAreUnits asks every living unit's servers for the members.
func (m *model) membersAreUnits(ctx context.Context, t *testing.T) error {
	t.Helper()
	units := m.alive(ctx, t)
	for _, db := range databases {
		var want []string
		for _, unit := range units {
			want = append(want, raftAddress(m.machines[unit], db.raftPort))
		}
		slices.Sort(want)
		for _, unit := range units {
			status, err := clusterStatus(ctx, m.machines[unit], db.short, db.schema)
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

// leaderOf is the living unit that leads a database.
func (m *model) leaderOf(ctx context.Context, t *testing.T, short, schema string) string {
	t.Helper()
	for _, unit := range m.alive(ctx, t) {
		status, err := clusterStatus(ctx, m.machines[unit], short, schema)
		require.NoError(t, err)
		if status.Leader == raft.Self {
			return unit
		}
	}
	require.Fail(t, "no unit leads "+schema)
	return ""
}

// identity is the first four digits of the ID of a unit's server.
func (m *model) identity(ctx context.Context, t *testing.T, unit, short, schema string) string {
	t.Helper()
	status, err := clusterStatus(ctx, m.machines[unit], short, schema)
	require.NoError(t, err)
	return status.Nick
}

// gone waits until a unit has been removed, and removes what its machine knows of
// it.
func (m *model) gone(ctx context.Context, t *testing.T, unit string) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		status, err := m.Status(ctx)
		if err == nil && status.Units[unit].Life != "dead" {
			s := status.Units[unit]
			err = fmt.Errorf("%s is %s, agent %s %s, workload %s %s, hooks %s", unit, s.Life, s.Agent.Status, s.Agent.Message,
				s.Workload.Status, s.Workload.Message, strings.Join(s.Hooks[max(0, len(s.Hooks)-3):], ", "))
		}
		return err
	})
}

func clusterStatus(ctx context.Context, m *machines.Machine, short, schema string) (raft.Status, error) {
	text, err := m.Exec(ctx, "ovs-appctl", "--timeout=5", "-t", "/var/run/ovn/ovn"+short+"_db.ctl", "cluster/status", schema)
	if err != nil {
		return raft.Status{}, err
	}
	return raft.Parse(text)
}
