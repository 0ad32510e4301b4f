package recorded

// Juju is a model that plays stories: the lab's or Juju's own.
type Juju interface {
	// Do takes a step, and returns when all has settled. The result is the outcome of an action.
	Do(step *Step) (*Result, error)
	// Place sets the script that the charm of a unit runs in a hook from now on.
	Place(unit, hook, script string) error
	// CharmDir returns the charm's directory of a unit.
	CharmDir(unit string) string
	// Hooks returns the hooks that each unit has run, including removed units.
	Hooks() map[string][]string
	// Failed returns the units that are in error.
	Failed() map[string]string
	// See returns the model as the controller knows it.
	See() *Seen
}

// Take takes one step, and returns it with its results.
func Take(juju Juju, step *Step) (got Step, err error) {
	before := juju.Hooks()
	if step.At != nil {
		err = juju.Place(step.At.Unit, step.At.Hook, step.Script())
	}
	for hook, text := range step.Scripts {
		if err == nil {
			err = juju.Place(step.Unit, hook, text)
		}
	}
	if err != nil {
		return got, err
	}
	var refused error
	if step.Do != "look" {
		got.Result, refused = juju.Do(step)
	} else {
		got.Seen = juju.See()
	}
	if refused != nil {
		got.Refused = refused.Error()
	}
	if failed := juju.Failed(); len(failed) > 0 {
		got.Failed = failed
	}
	for unit, hooks := range juju.Hooks() {
		if fresh := hooks[len(before[unit]):]; len(fresh) > 0 {
			if got.Hooks == nil {
				got.Hooks = map[string][]string{}
			}
			got.Hooks[unit] = fresh
		}
	}
	if step.At != nil {
		if got.Answers, err = step.Collect(juju.CharmDir(step.At.Unit)); err == nil {
			err = juju.Place(step.At.Unit, step.At.Hook, "")
		}
	}
	return got, err
}

// Outcome returns only the results of a step, in a form that can be compared.
func (s *Step) Outcome() Step {
	o := Step{Hooks: Ordered(s.Hooks), Failed: s.Failed, Refused: s.Refused, Answers: s.Answers, Result: s.Result, Seen: s.Seen}
	if len(o.Failed) == 0 {
		o.Failed = nil
	}
	if s.Seen != nil {
		seen := *s.Seen
		if len(seen.Ports) == 0 {
			seen.Ports = nil
		}
		o.Seen = &seen
	}
	return o
}
