package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Story is what the application goes through.
type Story struct {
	// App is what runs it, and Runner which one that is.
	App    Application
	Runner Runner
	// CA is an application in the model that issues certificates by the endpoint
	// certificates, and is ready to.
	CA string
	// Options are those that it is deployed with.
	Options map[string]string
	// Limit is how long a step may take, packages and all.
	Limit time.Duration
	// Every is how often the status is looked at.
	Every time.Duration
	Out   io.Writer
	// What a runner knows besides, if any. Served waits until clients have been served, after
	// each write; Settled for what else holds where all units are well. Leaving is told which
	// unit is about to be removed, and what it returns is done when that is gone.
	Served, Settled func(context.Context) error
	Leaving         func(ctx context.Context, unit string) (gone func() error, err error)

	watch *watch
	rows  []string
}

// Begin begins to look at the statuses. What is returned ends that, once the logs have all of
// them, and gives every status that was false or harmful, and why.
func (s *Story) Begin(ctx context.Context) (end func() (wrong []string, err error)) {
	s.watch = &watch{app: s.App, every: s.Every, out: s.Out, last: map[string]string{}}
	s.watch.set(Scene{Moving: true})
	looking, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.watch.run(looking) })
	return func() ([]string, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limit)
		defer cancel()
		err := sleep(ctx, logDelay)
		if err == nil {
			err = s.watch.logs(ctx)
		}
		stop()
		group.Wait()
		return s.watch.wrong, err
	}
}

// Take takes one step.
func (s *Story) Take(ctx context.Context, step Step) error {
	began := time.Now()
	fmt.Fprintf(s.Out, "== %s\n", step.Name)
	s.watch.set(step.scene)
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	err := step.take(s, ctx)
	if err == nil {
		err = s.watch.logs(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", step.Name, err)
	}
	fmt.Fprintf(s.Out, "   %.1f s\n", time.Since(began).Seconds())
	return nil
}

// Tell tells the whole of a story, as its runner has it. It returns every status that was
// false or harmful, and why; and where it came to no end, the error.
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
