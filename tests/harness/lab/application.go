package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// Application is a lab whose agents run due hooks by themselves, and update-status from time to time.
type Application struct {
	*Lab
	// begin runs what follows from a command, once the command has ended.
	begin func(then func(context.Context) error)

	mu      sync.Mutex
	history map[string][]cluster.Past // by unit
	left    map[string]*Unit          // those that have been removed
}

var _ cluster.OwnMachines = (*Application)(nil)

// updateInterval is the time between two update-status: short enough for tests that need several, long enough for
// units to rest.
const updateInterval = 10 * time.Second

// Live makes a lab's agents act by themselves until end is called.
func Live(ctx context.Context, l *Lab) (a *Application, end func()) {
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	a = &Application{Lab: l, history: map[string][]cluster.Past{}, left: map[string]*Unit{}}
	// The status shows a hook that fails.
	a.begin = func(then func(context.Context) error) { group.Go(func() { _ = then(ctx) }) }
	a.begin(a.live)
	return a, func() { stop(); group.Wait() }
}

// live does what agents do by themselves.
func (a *Application) live(ctx context.Context) error {
	due := time.Now().Add(updateInterval)
	for ctx.Err() == nil {
		_ = a.Settle(ctx)
		a.retry(ctx)
		if time.Now().After(due) {
			_ = a.UpdateStatus(ctx)
			due = time.Now().Add(updateInterval)
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * poll):
		}
	}
	return nil
}

// retry runs failed hooks again, such as those of a machine that was powered off. Removals retry their own hooks.
func (a *Application) retry(ctx context.Context) {
	for _, u := range a.Lab.Units() {
		if u.pending().failed != nil && !u.Dying() {
			_ = a.Retry(ctx, u)
		}
	}
}

// Deploy implements [cluster.Application]. The machines are empty ones.
func (a *Application) Deploy(ctx context.Context, n int, options map[string]string) error {
	return errors.Join(a.Lab.Configure(ctx, options), a.Add(ctx, n))
}

// Add implements [cluster.Application].
func (a *Application) Add(ctx context.Context, n int) error {
	for range n {
		if err := a.add(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// AddOn implements [cluster.OwnMachines].
func (a *Application) AddOn(ctx context.Context, left string) error {
	a.mu.Lock()
	disk := a.left[left]
	a.mu.Unlock()
	if disk == nil {
		return fmt.Errorf("cannot add a unit on the machine of %s: it has not left", left)
	}
	return a.add(ctx, disk)
}

func (a *Application) add(ctx context.Context, disk *Unit) error {
	u, err := a.AddUnitWith(ctx, AddOptions{Fresh: true, Disk: disk, NoHooks: true})
	if err == nil {
		u.OnCall(func(call string) { a.note(u.name, call) })
	}
	return err
}

// note records the calls with which a charm shows something.
func (a *Application) note(unit, call string) {
	words := strings.SplitN(strings.Replace(call, " -- ", " ", 1), " ", 3)
	if words[0] != "status-set" || len(words) < 2 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.history[unit] = append(a.history[unit], cluster.Past{Status: words[1], Message: strings.Join(words[2:], ""), Since: time.Now()})
}

// Log implements [cluster.Application].
func (a *Application) Log(_ context.Context, unit string) ([]cluster.Past, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.history[unit]), nil
}

// Remove implements [cluster.Application].
func (a *Application) Remove(ctx context.Context, unit string, force bool) error {
	return a.to(unit, func(u *Unit) error {
		if force {
			return a.RemoveUnit(ctx, u, RemoveOptions{Force: true})
		}
		a.mu.Lock()
		a.left[unit] = u
		a.mu.Unlock()
		a.begin(func(ctx context.Context) error {
			err := a.RemoveUnit(ctx, u, RemoveOptions{})
			if errors.As(err, new(*HookError)) && !u.Removed() {
				_, err = a.RetryUntil(ctx, u) // as Juju does by itself
			}
			return err
		})
		return nil
	})
}

// Destroy implements [cluster.Application].
func (a *Application) Destroy(context.Context) error {
	a.begin(a.RemoveApplication)
	return nil
}

// Relate implements [cluster.Application]. The only other application is the CA.
func (a *Application) Relate(_ context.Context, endpoint, other string) error {
	if endpoint != caEndpoint || other != caApp {
		return fmt.Errorf("cannot relate %s of %s: the lab plays %s of %s", endpoint, other, caEndpoint, caApp)
	}
	a.begin(func(ctx context.Context) error { _, err := a.RelateCA(ctx); return err })
	return nil
}

// Configure implements [cluster.Application].
func (a *Application) Configure(_ context.Context, options map[string]string) error {
	a.begin(func(ctx context.Context) error { return a.Lab.Configure(ctx, options) })
	return nil
}

// Units implements [cluster.Application].
func (a *Application) Units(context.Context) (map[string]cluster.Unit, error) {
	units, leader := map[string]cluster.Unit{}, a.Leader()
	for _, u := range a.Lab.Units() {
		workload, agent := u.Workload(), u.Agent()
		units[u.name] = cluster.Unit{
			Workload: cluster.Status{Current: workload.Status, Message: workload.Message},
			Agent:    cluster.Status{Current: agent.Status, Message: agent.Message}, Leader: u == leader,
		}
	}
	return units, nil
}

// Run implements [cluster.Application].
func (a *Application) Run(ctx context.Context, unit, action string, args ...string) (map[string]any, error) {
	u, err := a.Unit(unit)
	if err != nil {
		return nil, err
	}
	result, err := a.RunAction(ctx, u, action, args...)
	if result.ID == "" {
		return nil, err
	}
	results := map[string]any{}
	for key, value := range result.Results {
		results[key] = value
	}
	if result.Status == "failed" {
		return results, fmt.Errorf("%s of %s: %w: %s", action, unit, cluster.ErrAction, result.Message)
	}
	return results, nil
}

// Exec implements [cluster.Application].
func (a *Application) Exec(ctx context.Context, unit, program string, args ...string) (string, error) {
	u, err := a.Unit(unit)
	if err != nil {
		return "", err
	}
	return u.Exec(ctx, program, args...)
}

// RestartAgent implements [cluster.Application].
func (a *Application) RestartAgent(_ context.Context, unit string) error {
	return a.to(unit, func(u *Unit) error { u.RestartAgent(); return nil })
}

// PowerOff implements [cluster.Application].
func (a *Application) PowerOff(_ context.Context, unit string) error {
	return a.to(unit, (*Unit).PowerOff)
}

// PowerOn implements [cluster.OwnMachines].
func (a *Application) PowerOn(ctx context.Context, unit string) error {
	return a.to(unit, func(u *Unit) error { return u.Boot(ctx) })
}

// Reboot implements [cluster.OwnMachines].
func (a *Application) Reboot(ctx context.Context, unit string) error {
	return errors.Join(a.PowerOff(ctx, unit), a.PowerOn(ctx, unit))
}

// CutOff implements [cluster.OwnMachines].
func (a *Application) CutOff(_ context.Context, unit string, off bool) error {
	return a.to(unit, func(u *Unit) error { return u.Cut(off) })
}

func (a *Application) to(unit string, do func(*Unit) error) error {
	u, err := a.Unit(unit)
	if err != nil {
		return err
	}
	return do(u)
}
