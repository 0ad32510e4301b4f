package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Story is what the application goes through.
type Story struct {
	App Application
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

	watch *watch
	rows  []string
}

// Tell tells the whole story. It returns every status that was false or harmful, and
// why; and where it came to no end, the error.
func (s *Story) Tell(ctx context.Context) (wrong []string, err error) {
	s.watch = &watch{app: s.App, every: s.Every, out: s.Out, last: map[string]string{}}
	s.watch.set(Scene{Moving: true})
	looking, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.watch.run(looking) })
	defer func() {
		stop()
		group.Wait()
		wrong = s.watch.wrong
	}()
	for _, step := range []struct {
		what  string
		scene Scene
		do    func(context.Context) error
	}{
		{"three units are deployed, and wait for certificates", Scene{Moving: true}, s.deploy},
		{"they become a cluster", Scene{Moving: true}, s.certify}, // each hears of the relation in its own time
		{"nothing happens", Scene{Certified: true}, s.write},
		{"a fourth unit joins", Scene{Certified: true, Moving: true}, s.grow},
		{"a unit leaves whose agent has restarted", Scene{Certified: true, Moving: true}, s.shrink},
		{"the leader's unit is replaced", Scene{Certified: true, Moving: true}, s.replace},
		{"a machine is lost, kicked, and replaced", Scene{Certified: true, Moving: true}, s.lose},
		{"an option changes", Scene{Certified: true, Moving: true}, s.configure},
		{"the application is removed", Scene{Certified: true, Moving: true}, s.remove},
	} {
		began := time.Now()
		fmt.Fprintf(s.Out, "== %s\n", step.what)
		s.watch.set(step.scene)
		limited, cancel := context.WithTimeout(ctx, s.Limit)
		err := step.do(limited)
		if err == nil {
			err = s.watch.logs(limited)
		}
		cancel()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Fprintf(s.Out, "   %.1f s\n", time.Since(began).Seconds())
	}
	if err := sleep(ctx, logDelay); err != nil {
		return nil, err
	}
	return nil, s.watch.logs(ctx)
}

func (s *Story) deploy(ctx context.Context) error {
	if err := s.App.Deploy(ctx, 3, s.Options); err != nil {
		return err
	}
	return s.until(ctx, func(units map[string]Unit) string {
		for name, u := range units {
			if u.Agent.Current != "idle" || !strings.Contains(u.Workload.Message, "certificates") {
				return fmt.Sprintf("%s is %s, %s: %s", name, u.Agent.Current, u.Workload.Current, u.Workload.Message)
			}
		}
		return number(units, 3)
	})
}

func (s *Story) certify(ctx context.Context) error {
	if err := s.App.Relate(ctx, "certificates", s.CA); err != nil {
		return err
	}
	return s.active(ctx, 3)
}

// write stores a row through a unit, and sees all those before it through another.
func (s *Story) write(ctx context.Context) error {
	units, err := s.App.Units(ctx)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(units))
	row := fmt.Sprintf("row-%d", len(s.rows))
	if _, err := s.nbctl(ctx, names[0], "ls-add", row); err != nil {
		return err
	}
	s.rows = append(s.rows, row)
	list, err := s.nbctl(ctx, names[len(names)-1], "ls-list")
	for _, row := range s.rows {
		if err == nil && !strings.Contains(list, "("+row+")") {
			err = fmt.Errorf("%s is lost: %s", row, list)
		}
	}
	return err
}

// nbctl needs no leader at the unit: members pass on what is written.
func (s *Story) nbctl(ctx context.Context, unit string, args ...string) (string, error) {
	return s.App.Exec(ctx, unit, "ovn-nbctl", append([]string{"--no-leader-only", "--timeout=30"}, args...)...)
}

func (s *Story) grow(ctx context.Context) error {
	if err := s.App.Add(ctx, 1); err != nil {
		return err
	}
	return errors.Join(s.active(ctx, 4), s.write(ctx))
}

func (s *Story) shrink(ctx context.Context) error {
	going, err := s.who(ctx, false)
	if err != nil {
		return err
	}
	if err := s.App.RestartAgent(ctx, going); err != nil {
		return err
	}
	if err := s.active(ctx, 4); err != nil {
		return err
	}
	if err := s.removeUnit(ctx, going); err != nil {
		return err
	}
	return errors.Join(s.active(ctx, 3), s.members(ctx, 3), s.write(ctx))
}

func (s *Story) replace(ctx context.Context) error {
	going, err := s.who(ctx, true)
	if err != nil {
		return err
	}
	if err := s.App.Add(ctx, 1); err != nil {
		return err
	}
	if err := s.removeUnit(ctx, going); err != nil {
		return err
	}
	return errors.Join(s.active(ctx, 3), s.members(ctx, 3), s.write(ctx))
}

func (s *Story) configure(ctx context.Context) error {
	if err := s.App.Configure(ctx, map[string]string{"ovsdb-server-election-timer": "5"}); err != nil {
		return err
	}
	err := s.reports(ctx, func(results map[string]any) string {
		for _, db := range []string{"ovnnb", "ovnsb"} {
			if !strings.Contains(text(results[db]), "Election timer: 5000") {
				return db + " has another election timer: " + text(results[db])
			}
		}
		return ""
	})
	return errors.Join(err, s.active(ctx, 3), s.write(ctx))
}

func (s *Story) lose(ctx context.Context) error {
	lost, err := s.who(ctx, false)
	if err != nil {
		return err
	}
	s.watch.set(Scene{Certified: true, Moving: true, Down: []string{lost}})
	if err := s.App.PowerOff(ctx, lost); err != nil {
		return err
	}
	if err := s.App.Remove(ctx, lost, true); err != nil {
		return err
	}
	if err := s.until(ctx, func(units map[string]Unit) string { return number(units, 2) }); err != nil {
		return err
	}
	if err := s.typeWhatIsPrinted(ctx, 2); err != nil {
		return err
	}
	if err := s.App.Add(ctx, 1); err != nil {
		return err
	}
	return errors.Join(s.active(ctx, 3), s.members(ctx, 3), s.write(ctx))
}

// typeWhatIsPrinted runs the commands that cluster-status prints, until there is
// none and n members are up. What is printed has to work.
func (s *Story) typeWhatIsPrinted(ctx context.Context, n int) error {
	for {
		unit, err := s.who(ctx, true)
		if err != nil {
			return err
		}
		results, err := s.App.Run(ctx, unit, "cluster-status")
		if err != nil {
			return err
		}
		typed := printed(text(results["next"]))
		if len(typed) == 0 && complete(results, n) {
			return s.members(ctx, n)
		}
		switch {
		case len(typed) == 1:
			return fmt.Errorf("%s printed an action without a name: %q", unit, typed)
		case slices.Contains(typed, "force=true"):
			s.watch.wrongly(fmt.Sprintf("%s printed %q, and nothing here needs force", unit, typed))
		case len(typed) > 0:
			fmt.Fprintf(s.Out, "   typed: juju run %s\n", strings.Join(typed, " "))
			if _, err := s.App.Run(ctx, typed[0], typed[1], typed[2:]...); err != nil {
				return err
			}
		}
		if err := sleep(ctx, s.Every); err != nil {
			return fmt.Errorf("what cluster-status prints doesn't lead to %d members: %w", n, err)
		}
	}
}

// printed is the first command of what cluster-status prints, as what is typed
// after `juju run`.
func printed(next string) []string {
	for line := range strings.Lines(next) {
		if typed, is := strings.CutPrefix(strings.TrimSpace(line), "juju run "); is {
			return strings.Fields(typed)
		}
	}
	return nil
}

func (s *Story) remove(ctx context.Context) error {
	if err := s.App.Destroy(ctx); err != nil {
		return err
	}
	return s.until(ctx, func(units map[string]Unit) string { return number(units, 0) })
}
