package hooktool

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// settable are the status words of status-set, in the order of Juju's message.
var settable = []string{"maintenance", "blocked", "waiting", "active"}

func statusSet(c *call) error {
	args, err := newOptions().parse(c, 2)
	if err != nil {
		return err
	}
	if !slices.Contains(settable, args[0]) {
		return errUsage{fmt.Errorf("invalid status %q, expected one of %v", args[0], settable)}
	}
	c.Model.Do(func(s *model.State) {
		u := s.Units[c.Unit]
		u.Workload = model.Status{Status: args[0], Message: args[1], Since: time.Now()}
		u.Uniter.StatusSet = true
	})
	return nil
}

// goalUnit is one unit in goal-state.
type goalUnit struct {
	Status string `json:"status"`
	Since  string `json:"since,omitempty"`
}

// sinceForm is how goal-state writes times.
const sinceForm = "2006-01-02 15:04:05Z"

// otherGoal is the other application of a relation in goal-state, and its units:
// they are taken to be well.
func otherGoal(r *model.Relation) map[string]goalUnit {
	status := "joined"
	if r.Dying {
		status = "broken"
	}
	since := r.Since.UTC().Format(sinceForm)
	goal := map[string]goalUnit{r.Remote: {status, since}}
	for unit, bag := range r.RemoteUnits {
		if bag.InScope {
			goal[unit] = goalUnit{"active", since}
		}
	}
	return goal
}

func goalState(c *call) error {
	if _, err := newOptions().prints().parse(c, 0); err != nil {
		return err
	}
	goal := struct {
		Units     map[string]goalUnit            `json:"units"`
		Relations map[string]map[string]goalUnit `json:"relations"`
	}{map[string]goalUnit{}, map[string]map[string]goalUnit{}}
	c.Model.Do(func(s *model.State) {
		for _, r := range s.Relations {
			if r.Peer() {
				continue // they aren't listed
			}
			if goal.Relations[r.Name] == nil {
				goal.Relations[r.Name] = map[string]goalUnit{}
			}
			maps.Copy(goal.Relations[r.Name], otherGoal(r))
		}
		for _, u := range s.Units {
			status := u.VisibleStatus()
			if u.Dying {
				status.Status = "dying"
			}
			goal.Units[u.Name] = goalUnit{status.Status, status.Since.UTC().Format(sinceForm)}
		}
	})
	return c.print(goal)
}
