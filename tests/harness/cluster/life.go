package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// The steps of [Life].
var (
	Deployed  = Step{"three units are deployed, and wait for certificates", everywhere, joining, (*Story).deploy}
	Certified = Step{"they become a cluster", everywhere, joining, (*Story).certify}
	Quiet     = Step{"nothing happens", everywhere, Phase{Certified: true}, (*Story).write}
	Grown     = Step{"two units join", everywhere, moving, (*Story).grow}
	Shrunk    = Step{"a unit leaves whose agent has restarted, then the one that leads the Southbound database", everywhere, moving, (*Story).shrink}
	Replaced  = Step{"the leader's unit is replaced", furtherUnits, moving, (*Story).replace}
	Reused    = Step{"a unit leaves, and its machine hosts another one", ownMachines, moving, (*Story).reuse}
	Lost      = Step{"a machine is lost, kicked, and replaced", furtherUnits, moving, (*Story).lose}
	Adjusted  = Step{"the election timer changes", everywhere, moving, timer("5")}
	Stepped   = Step{"the election timer grows and shrinks, in its steps", ownMachines, moving, timer("16", "2", "5")}
	Refused   = Step{"an option is refused, and put back", ownMachines, refusing, (*Story).refuse}
	Restarted = Step{"every machine restarts, one after another", ownMachines, moving, (*Story).restart}
	Cut       = Step{"a machine is cut off, kicked, and comes back", ownMachines, moving, (*Story).cut}
	PowerCut  = Step{"the machine that leads the Southbound database loses its power, and gets it back", ownMachines, moving, (*Story).powerCut}
	Blackout  = Step{"all machines lose their power at once, and get it back", ownMachines, moving, (*Story).blackout}
	Destroyed = Step{"the application is removed", everywhere, moving, (*Story).destroy}
)

// Life is the life of an application, from its first unit to its removal.
var Life = []Step{
	Deployed, Certified, Quiet, Grown, Shrunk, Replaced, Reused, Lost, Adjusted, Stepped, Refused, Restarted, Cut, PowerCut, Blackout, Destroyed,
}

var (
	joining  = Phase{Moving: true} // the units learn of the relation one after the other
	moving   = Phase{Certified: true, Moving: true}
	refusing = Phase{Certified: true, Refused: true}
)

func (s *Story) deploy(ctx context.Context) error {
	if err := s.App.Deploy(ctx, 3, s.Options); err != nil {
		return err
	}
	return s.until(ctx, func(units map[string]Unit) string {
		for name, u := range units {
			waits := u.Workload.Current == "waiting" || u.Workload.Current == "blocked"
			if u.Agent.Current != "idle" || !waits || !strings.Contains(u.Workload.Message, "certificates") {
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

// write stores a row through one unit, and reads all earlier rows through another.
func (s *Story) write(ctx context.Context) error {
	units, err := s.App.Units(ctx)
	if err != nil {
		return err
	}
	down := s.watch.down()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(units)), func(unit string) bool { return slices.Contains(down, unit) })
	if len(names) == 0 {
		return errors.New("no unit is up")
	}
	row := fmt.Sprintf("row-%d", len(s.rows))
	// If a server has forwarded a write to a leader that has lost its power since, the server may not answer in time.
	err = s.until(ctx, func(map[string]Unit) string {
		if _, err := s.nbctl(ctx, names[0], "--may-exist", "ls-add", row); err != nil {
			return err.Error()
		}
		return ""
	})
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row)
	list, err := s.nbctl(ctx, names[len(names)-1], "ls-list")
	for _, row := range s.rows {
		if err == nil && !strings.Contains(list, "("+row+")") {
			err = fmt.Errorf("%s is lost: %s", row, list)
		}
	}
	if err == nil && s.Served != nil {
		err = s.Served(ctx)
	}
	return err
}

func (s *Story) nbctl(ctx context.Context, unit string, args ...string) (string, error) {
	return s.App.Exec(ctx, unit, "ovn-nbctl", append([]string{"--no-leader-only", "--timeout=15"}, args...)...)
}

// well requires that n units are active, that both clusters have their members, and that the rows written are there.
func (s *Story) well(ctx context.Context, n int) error {
	if err := errors.Join(s.active(ctx, n), s.members(ctx, n)); err != nil {
		return err
	}
	if s.Settled != nil {
		if err := s.Settled(ctx); err != nil {
			return err
		}
	}
	return s.write(ctx)
}

func (s *Story) grow(ctx context.Context) error {
	if err := s.App.Add(ctx, 2); err != nil {
		return err
	}
	return s.well(ctx, 5)
}

func (s *Story) shrink(ctx context.Context) error {
	going, err := s.follower(ctx)
	if err != nil {
		return err
	}
	if err := s.App.RestartAgent(ctx, going); err != nil {
		return err
	}
	if err := s.active(ctx, 5); err != nil {
		return err
	}
	if err := errors.Join(s.removeUnit(ctx, going), s.well(ctx, 4)); err != nil {
		return err
	}
	if going, err = s.leads(ctx, "ovnsb"); err != nil {
		return err
	}
	return errors.Join(s.removeUnit(ctx, going), s.well(ctx, 3))
}

func (s *Story) replace(ctx context.Context) error {
	going, err := s.unitOf(ctx, true)
	if err != nil {
		return err
	}
	if err := s.App.Add(ctx, 1); err != nil {
		return err
	}
	return errors.Join(s.removeUnit(ctx, going), s.well(ctx, 3))
}

func (s *Story) lose(ctx context.Context) error {
	lost, err := s.unitOf(ctx, false)
	if err != nil {
		return err
	}
	s.watch.set(Phase{Certified: true, Moving: true, Down: []string{lost}})
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
	return s.well(ctx, 3)
}

// typeWhatIsPrinted runs the commands that cluster-status prints, until it prints none and n members are up.
func (s *Story) typeWhatIsPrinted(ctx context.Context, n int) error {
	for {
		unit, err := s.unitOf(ctx, true)
		if err != nil {
			return err
		}
		results, err := s.App.Run(ctx, unit, "cluster-status", "format=json")
		if err != nil {
			return err
		}
		typed := printed(findings(results).Next())
		if len(typed) == 0 && complete(results, n) {
			return s.members(ctx, n)
		}
		switch {
		case len(typed) == 1:
			return fmt.Errorf("%s printed an action without a name: %q", unit, typed)
		case slices.Contains(typed, "force=true") || slices.Contains(typed, "unit-in-model=true"):
			s.watch.wrongly(fmt.Sprintf("%s printed %q, and nothing here needs force", unit, typed))
		case len(typed) > 0:
			fmt.Fprintf(s.Out, "   typed: juju run %s\n", strings.Join(typed, " "))
			if _, err := s.App.Run(ctx, typed[0], typed[1], typed[2:]...); err != nil {
				return err
			}
		}
		if err := poll.Wait(ctx, s.Every); err != nil {
			return fmt.Errorf("what cluster-status prints doesn't lead to %d members: %w", n, err)
		}
	}
}

// printed returns the arguments of the first `juju run` that cluster-status prints.
func printed(next []string) []string {
	for _, line := range next {
		if typed, is := strings.CutPrefix(line, "juju run "); is {
			return strings.Fields(typed)
		}
	}
	return nil
}

const timerOption = "ovsdb-server-election-timer"

// timer sets the election timer to each value in turn. A member at most doubles its timer, and needs a hook for the
// next step.
func timer(values ...string) func(*Story, context.Context) error {
	return func(s *Story, ctx context.Context) error {
		for _, seconds := range values {
			if err := s.App.Configure(ctx, map[string]string{timerOption: seconds}); err != nil {
				return err
			}
			err := s.reports(ctx, func(results map[string]any) string {
				for _, db := range []string{"ovnnb", "ovnsb"} {
					var shown struct {
						Timer int `json:"election_timer"`
					}
					if err := json.Unmarshal([]byte(text(results[db])), &shown); err != nil || fmt.Sprint(shown.Timer) != seconds+"000" {
						return db + " has another election timer: " + text(results[db])
					}
				}
				return ""
			})
			if err != nil {
				return err
			}
		}
		return errors.Join(s.active(ctx, 3), s.write(ctx))
	}
}

func (s *Story) refuse(ctx context.Context) error {
	if err := s.App.Configure(ctx, map[string]string{timerOption: "61"}); err != nil {
		return err
	}
	err := s.until(ctx, func(units map[string]Unit) string {
		for name, u := range units {
			if u.Workload.Current != "blocked" || !strings.Contains(u.Workload.Message, timerOption) {
				return fmt.Sprintf("%s is %s: %s", name, u.Workload.Current, u.Workload.Message)
			}
		}
		return ""
	})
	if err != nil {
		return err
	}
	return errors.Join(s.App.Configure(ctx, map[string]string{timerOption: "5"}), s.active(ctx, 3), s.write(ctx))
}

func (s *Story) destroy(ctx context.Context) error {
	if err := s.App.Destroy(ctx); err != nil {
		return err
	}
	return s.until(ctx, func(units map[string]Unit) string { return number(units, 0) })
}
