package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Answer is whether something may be done with a unit now.
type Answer struct {
	// Lines are the arithmetic, one for each of the unit's members.
	Lines []string
	// Against is what stands against it; nil if nothing does.
	Against *finding.Finding
}

// OKToStop judges that a unit goes down.
func OKToStop(r observe.Report, unit string) (Answer, error) {
	return answer(r, unit, finding.StopUnsafe, raft.PlanStop)
}

// OKToRemove judges that a unit is removed and leaves.
func OKToRemove(r observe.Report, unit string) (Answer, error) {
	return answer(r, unit, finding.RemovalUnsafe, raft.PlanLeave)
}

func answer(r observe.Report, unit string, code finding.Code, judge func(raft.Change) raft.Plan) (a Answer, err error) {
	m := r.Application
	if unit != m.Unit && !slices.Contains(m.Others(), unit) {
		return a, fmt.Errorf("there is no unit %s; there are %s", unit, strings.Join(append(m.Others(), m.Unit), ", "))
	}
	var refusals []*raft.Refusal
	var unseen []string
	for _, c := range r.Clusters {
		if !c.Member() {
			unseen = append(unseen, c.Database.Short()+": this unit's server is no member that could tell; ask another unit")
			continue
		}
		for _, row := range c.Rows {
			if row.Owner.Unit != unit {
				continue
			}
			plan := judge(raft.Change{Database: c.Database, View: c.View, Target: row.Longest()})
			if plan.Refusal != nil {
				refusals = append(refusals, plan.Refusal)
				continue
			}
			a.Lines = append(a.Lines, fmt.Sprintf("%s: %d of %d members are up; then %s", c.Database.Short(), plan.Before.Up, plan.Before.Members, plan.After))
		}
	}
	if len(refusals)+len(unseen) == 0 {
		if len(a.Lines) == 0 {
			a.Lines = []string{unit + " has no member in either database"}
		}
		return a, nil
	}
	for _, refusal := range refusals {
		unseen = append(unseen, refusal.Error())
	}
	f := finding.New(code, finding.Subject{Name: unit}, finding.Args{Detail: strings.Join(unseen, "; ")}, ways(m, refusals, viewsOf(r))...)
	a.Against = &f
	return a, nil
}
