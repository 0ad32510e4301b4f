package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// kickCommand is the line that kicks a member of one or of both databases. What
// it says, the action accepts: a member that is up, or whose unit is still in
// the model, needs force.
func (s *Service) kickCommand(on string, targets map[raft.Database]string, force bool) string {
	c := juju.Command{Unit: on, Action: "kick"}
	for _, d := range []raft.Database{raft.SB, raft.NB} { // the order of the specification's example
		if id := targets[d]; id != "" {
			c.Params = append(c.Params, juju.Param{Key: d.Short() + "-identity", Value: id, Text: true})
		}
	}
	if force {
		c.Params = append(c.Params, juju.Param{Key: "force", Value: "true"})
	}
	c.Params = append(c.Params, juju.Param{Key: "i-really-mean-it", Value: "true"})
	return s.Env.Version.Render(c)
}

// stayingUnit is a unit to run an action on: this one, unless it is going and
// another one is not.
func (m Model) stayingUnit() string {
	if !m.Dying(m.Unit) {
		return m.Unit
	}
	return m.otherUnit()
}

// otherUnit is another unit that stays, as far as is known. Where none is, it is
// what Juju takes for the leader, whichever unit that is.
func (m Model) otherUnit() string {
	known := slices.Concat(slices.Collect(maps.Keys(m.Goal)), m.Published.Names())
	slices.SortFunc(known, compareUnits)
	for _, unit := range known {
		if unit != m.Unit && !m.Dying(unit) && m.exists(unit) {
			return unit
		}
	}
	app, _, _ := strings.Cut(m.Unit, "/")
	return app + "/leader"
}

// describe names a member and its unit.
func (m Model) describe(d raft.Database, p raft.Peer) string {
	o := m.Owner(d, p)
	switch {
	case o.Unit != "":
		return fmt.Sprintf("%s (%s)", p.Short, o.Unit)
	case o.Was != "":
		return fmt.Sprintf("%s (was %s)", p.Short, o.Was)
	}
	return fmt.Sprintf("%s at %s (unknown unit)", p.Short, p.Address)
}

// unblock says how to get rid of the members that are down and stand in the way,
// the first of them that may be kicked first.
func (s *Service) unblock(r *raft.Refusal, v raft.View, m Model) []string {
	var advice []string
	for _, p := range r.Blockers {
		o := m.Owner(r.Database, p)
		plan := raft.PlanKick(raft.Change{Database: r.Database, View: v, Target: p.Longest(), UnitInModel: o.Unit, Force: true})
		target := map[raft.Database]string{r.Database: p.Longest()}
		what := m.describe(r.Database, p)
		switch {
		case plan.Refusal != nil:
			advice = append(advice, fmt.Sprintf("start the server of %s again", what))
		case o.Unit != "":
			advice = append(advice, fmt.Sprintf("start the server of %s again, or, if it is lost, kick it first: %s",
				what, s.kickCommand(m.stayingUnit(), target, true)))
		case o.Stale:
			advice = append(advice, fmt.Sprintf("kick %s first: %s", what, s.kickCommand(m.stayingUnit(), target, false)))
		default:
			advice = append(advice, fmt.Sprintf("find out whose %s is before anybody kicks it (%s)", what, strings.Join(m.Unpublished(), "; ")))
		}
	}
	return advice
}

// statusCommand is the line that shows the clusters as a unit sees them.
func (s *Service) statusCommand(on string) string {
	return s.Env.Version.Render(juju.Command{Unit: on, Action: "cluster-status"})
}

// RefusedError says that nothing was touched, and why.
type RefusedError struct {
	// Refusals are one or two: each database is judged.
	Refusals []*raft.Refusal
	// Advice are the ways out, each one line.
	Advice []string
}

// Error is one line for each reason, then one for each way out, which both
// databases may share.
func (e *RefusedError) Error() string {
	var lines []string
	for _, r := range e.Refusals {
		lines = append(lines, r.Error())
	}
	for i, a := range e.Advice {
		if !slices.Contains(e.Advice[:i], a) {
			lines = append(lines, "next: "+a)
		}
	}
	return strings.Join(lines, "\n")
}
