package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Answer reports whether a unit may be stopped or removed now.
type Answer struct {
	// Lines are the numbers of members, a line for each member of the unit.
	Lines []string
	// Against is the reason against it; nil if it is allowed.
	Against *finding.Finding
}

// OKToStop reports whether a unit may go down.
func OKToStop(r observe.Report, unit string) (Answer, error) {
	return answer(r, unit, finding.StopUnsafe, raft.PlanStop)
}

// OKToRemove reports whether a unit may be removed, and so leave. A unit that is down can't leave: Juju waits for its
// agent.
func OKToRemove(r observe.Report, unit string) (Answer, error) {
	var absent []finding.Finding
	if _, up := memberOf(r, unit); !up {
		absent = slices.DeleteFunc(down(r), func(f finding.Finding) bool { return f.Args.Unit != unit })
	}
	return answer(r, unit, finding.RemovalUnsafe, raft.PlanLeave, absent...)
}

// answer judges a change of a unit's members; against are further reasons against it.
func answer(
	r observe.Report, unit string, code finding.Code, judge func(raft.Change) raft.Plan, against ...finding.Finding,
) (a Answer, err error) {
	m := r.Application
	if unit != m.Unit && !slices.Contains(m.Others(), unit) {
		return a, fmt.Errorf("there is no unit %s; there are %s", unit, strings.Join(append(m.Others(), m.Unit), ", "))
	}
	var refused []raft.Plan
	var ways []finding.Remedy
	f := finding.New(code, finding.Subject{Name: unit}, finding.Args{})
	for _, c := range r.Clusters {
		if !c.Member() {
			f = f.Because(finding.Of(finding.NotAMember, c.Database, finding.Args{Detail: c.ServerState.Text()}))
			ways = []finding.Remedy{finding.ByHand(finding.AskAnother)}
			continue
		}
		for _, plan := range plans(c, unit, judge) {
			if plan.Refusal != nil {
				refused = append(refused, plan)
				continue
			}
			a.Lines = append(a.Lines, fmt.Sprintf("%s: %d of %d members are up; afterwards %s", c.Database.Short(),
				plan.Before.Up, plan.Before.Members, plan.After))
		}
	}
	f = f.Because(append(reasons(m, refused), against...)...)
	if len(f.Causes) == 0 {
		if len(a.Lines) == 0 {
			a.Lines = []string{unit + " has no member in either database"}
		}
		return a, nil
	}
	f.Remedies = slices.Concat(Ways(m, refused, viewsOf(r)), f.Remedies, ways)
	a.Against = &f
	return a, nil
}
