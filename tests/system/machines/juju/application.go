package juju

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// Application is the charm on a fleet's machines with a CA, as a [cluster.Application].
type Application struct {
	*Controller
	// Machines are those of the units, also of units that have left.
	Machines map[string]*machines.Machine
	// CA is replaced by [Application.ReplaceCA].
	CA    *vault.CA
	fleet *machines.Fleet

	mu       sync.Mutex        // of the CA and what it has answered
	answered map[string]string // by unit, its request
}

var _ cluster.OwnMachines = (*Application)(nil)

// updateInterval separates two update-status: short enough for tests that need several, long enough for units to rest.
const updateInterval = 10 * time.Second

// answerInterval is the pause between two looks for requests to the CA.
const answerInterval = 300 * time.Millisecond

// Live answers certificate requests and runs update-status now and then, until end. It logs failures.
func Live(ctx context.Context, c *Controller, f *machines.Fleet, log io.Writer) (a *Application, end func()) {
	ctx, stop := context.WithCancel(ctx)
	a = &Application{Controller: c, Machines: map[string]*machines.Machine{}, CA: vault.New("vault"), fleet: f, answered: map[string]string{}}
	var group sync.WaitGroup
	every := func(interval time.Duration, do func(context.Context) error) {
		group.Go(func() {
			ticker := time.NewTicker(interval)
			defer ticker.Stop()
			for ctx.Err() == nil {
				if err := do(ctx); err != nil && ctx.Err() == nil {
					fmt.Fprintln(log, err)
				}
				select {
				case <-ctx.Done():
				case <-ticker.C:
				}
			}
		})
	}
	every(answerInterval, func(ctx context.Context) error { return a.Certify(ctx, false) })
	every(updateInterval, a.update)
	return a, func() { stop(); group.Wait() }
}

// update runs update-status on all units: no other hook hears of a change that a cluster makes by itself.
func (a *Application) update(ctx context.Context) error {
	units, err := a.Alive(ctx)
	if err != nil {
		return err
	}
	for _, unit := range units {
		_ = a.UpdateStatus(ctx, unit) // it may have gone meanwhile
	}
	return nil
}

// Alive returns the units that are in the model and not dying, in their order.
func (a *Application) Alive(ctx context.Context) ([]string, error) {
	status, err := a.Status(ctx)
	maps.DeleteFunc(status.Units, func(_ string, u UnitStatus) bool { return u.Life != "alive" })
	return slices.Sorted(maps.Keys(status.Units)), err
}

// Deploy implements [cluster.Application].
func (a *Application) Deploy(ctx context.Context, n int, options map[string]string) error {
	if err := a.Configure(ctx, options); err != nil {
		return err
	}
	return a.Add(ctx, n)
}

// Add implements [cluster.Application]: each unit has a machine of its own.
func (a *Application) Add(ctx context.Context, n int) error {
	booted, err := a.fleet.Boot(ctx, n)
	if err != nil {
		return err
	}
	for _, m := range booted {
		if err := a.add(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// AddOn implements [cluster.OwnMachines].
func (a *Application) AddOn(ctx context.Context, left string) error {
	return a.add(ctx, a.Machines[left])
}

func (a *Application) add(ctx context.Context, m *machines.Machine) error {
	unit, err := a.AddUnit(ctx, m)
	if err != nil {
		return err
	}
	return a.StartAgent(ctx, unit)
}

// Remove implements [cluster.Application].
func (a *Application) Remove(ctx context.Context, unit string, force bool) error {
	return a.do(ctx, "remove-unit", map[string]any{"unit": unit, "force": force}, nil)
}

// Units implements [cluster.Application].
func (a *Application) Units(ctx context.Context) (map[string]cluster.Unit, error) {
	status, err := a.Status(ctx)
	units := map[string]cluster.Unit{}
	for name, u := range status.Units {
		if u.Life != "dead" {
			units[name] = cluster.Unit{
				Workload: cluster.Status{Current: u.Workload.Status, Message: u.Workload.Message},
				Agent:    cluster.Status{Current: u.Agent.Status, Message: u.Agent.Message}, Leader: name == status.Leader,
			}
		}
	}
	return units, err
}

// Log implements [cluster.Application]: the controller keeps none.
func (a *Application) Log(context.Context, string) ([]cluster.Past, error) { return nil, nil }

// Exec implements [cluster.Application].
func (a *Application) Exec(ctx context.Context, unit, program string, args ...string) (string, error) {
	return a.Machines[unit].Exec(ctx, append([]string{program}, args...)...)
}

// PowerOff implements [cluster.Application].
func (a *Application) PowerOff(ctx context.Context, unit string) error {
	return a.Machines[unit].Kill(ctx)
}

// PowerOn implements [cluster.OwnMachines].
func (a *Application) PowerOn(ctx context.Context, unit string) error {
	return a.Machines[unit].Start(ctx)
}

// Reboot implements [cluster.OwnMachines].
func (a *Application) Reboot(ctx context.Context, unit string) error {
	return a.Machines[unit].Reboot(ctx)
}

// CutOff implements [cluster.OwnMachines]. It also suspends the agent, whose controller is not on that network.
func (a *Application) CutOff(ctx context.Context, unit string, off bool) error {
	if off {
		if err := a.StopAgent(ctx, unit); err != nil {
			return err
		}
		return a.Machines[unit].Cut(ctx, true)
	}
	if err := a.Machines[unit].Cut(ctx, false); err != nil {
		return err
	}
	return a.StartAgent(ctx, unit)
}
