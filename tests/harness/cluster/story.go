package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Story runs the steps of a scenario on an application.
type Story struct {
	// App runs the application; Runner names its kind.
	App    Application
	Runner Runner
	// CA is an application in the model that issues certificates over an endpoint named certificates. It is ready.
	CA string
	// Options are set when the application is deployed.
	Options map[string]string
	// Limit is how long a step may take, including the installation of packages.
	Limit time.Duration
	// Every is the interval at which the status is read.
	Every time.Duration
	Out   io.Writer
	// These are optional checks of a runner. Served waits, after each write, until clients have been served. Settled
	// waits for the other conditions that must hold when all units are well. Leaving is called before a unit is removed;
	// the function that it returns is called afterwards.
	Served, Settled func(context.Context) error
	Leaving         func(ctx context.Context, unit string) (gone func() error, err error)

	watch *watch
	rows  []string
}

// Begin starts to judge the statuses. The returned function stops that, and returns the false or harmful statuses.
func (s *Story) Begin(ctx context.Context) (end func() (wrong []string, err error)) {
	s.watch = &watch{app: s.App, every: s.Every, out: s.Out, last: map[string]string{}}
	s.watch.set(Phase{Moving: true})
	looking, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.watch.run(looking) })
	return func() ([]string, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limit)
		defer cancel()
		err := poll.Wait(ctx, logDelay)
		if err == nil {
			err = s.watch.logs(ctx)
		}
		stop()
		group.Wait()
		return s.watch.wrong, err
	}
}

// Take runs one step. Units may still be moving because of what the runner did by itself before the step.
func (s *Story) Take(ctx context.Context, step Step) error {
	began := time.Now()
	fmt.Fprintf(s.Out, "== %s\n", step.Name)
	s.watch.set(step.phase)
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	err := step.take(s, ctx)
	if err == nil {
		err = s.watch.logs(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", step.Name, err)
	}
	s.watch.set(Phase{Certified: step.phase.Certified, Moving: true})
	fmt.Fprintf(s.Out, "   %.1f s\n", time.Since(began).Seconds())
	return nil
}

// Tell runs those steps of a scenario that the runner supports. It returns the false or harmful statuses.
func (s *Story) Tell(ctx context.Context, steps []Step) (wrong []string, err error) {
	end := s.Begin(ctx)
	for _, step := range On(s.Runner, steps) {
		if err = s.Take(ctx, step); err != nil {
			break
		}
	}
	wrong, last := end()
	return wrong, errors.Join(err, last)
}

// Runner names the kind of application that runs a scenario.
type Runner string

// The runners.
const (
	// Lab is tests/harness/lab. It has real databases, and each unit has its own network; Juju and systemd are
	// simulated.
	Lab Runner = "lab"
	// Client is a `juju` client, through tests/system/juju: of any controller, or of the lab.
	Client Runner = "client"
	// Machines is tests/system/machines/juju: machines with systemd and Debian's packages, under Juju's own unit agent.
	Machines Runner = "machines"
)

// The runners of a step. A real controller runs update-status too rarely for steps that need several.
var (
	everywhere   = []Runner{Lab, Client, Machines}
	ownMachines  = []Runner{Lab, Machines} // they implement [OwnMachines]
	furtherUnits = []Runner{Lab, Client}   // each takes Machines a minute of packages, and Grown adds two
)

// Step is a part of a scenario, with its runners and the phase by which statuses are judged during it.
type Step struct {
	Name  string
	on    []Runner
	phase Phase
	take  func(*Story, context.Context) error
}

// On returns the steps that a runner supports.
func On(runner Runner, steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(step Step) bool { return !slices.Contains(step.on, runner) })
}
