package hooktool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// settable are the status words of status-set, in the order of Juju's message.
var settable = []string{"maintenance", "blocked", "waiting", "active"}

var errNotLeader = errors.New("this unit is not the leader")

func statusSet(c *call) error {
	var application bool
	f := flags{}
	f.boolean(&application, "application")
	args, err := f.parse(c.request.Args)
	switch {
	case err != nil:
		return usage(err)
	case len(args) == 0:
		return usage(errors.New("invalid args, require <status> [message]"))
	case !slices.Contains(settable, args[0]):
		return usage(fmt.Errorf("invalid status %q, expected one of %v", args[0], settable))
	case len(args) > 2:
		return usage(none(args[2:]))
	}
	status := model.Status{Status: args[0], Since: time.Now()}
	if len(args) == 2 {
		status.Message = args[1]
	}
	c.Model.Do(func(s *model.State) {
		switch {
		case !application:
			s.Units[c.Unit].Workload = status
			s.Units[c.Unit].Uniter.StatusSet = true
		case s.Leader != c.Unit:
			err = errNotLeader
		default:
			s.AppStatus = status
		}
	})
	return err
}

func statusGet(c *call) error {
	var out output
	var data, application bool
	f := flags{}
	out.flags(f, "smart", "json", "yaml")
	f.boolean(&data, "include-data")
	f.boolean(&application, "application")
	args, err := f.parse(c.request.Args)
	if err == nil {
		err = none(args)
	}
	if err != nil {
		return usage(err)
	}
	var value any
	c.Model.Do(func(s *model.State) {
		switch {
		case application && s.Leader != c.Unit:
			err = fmt.Errorf("finding application status: %w", errNotLeader)
		case application:
			units := map[string]any{}
			for _, u := range s.Ordered() {
				units[u.Name] = details(u.Workload, data)
			}
			app := details(s.AppStatus, data)
			app["units"] = units
			value = map[string]any{"application-status": app}
			if !data && out.format == "smart" {
				value = s.AppStatus.Status
			}
		default:
			status := s.Units[c.Unit].Workload
			value = details(status, data)
			if !data && out.format == "smart" {
				value = status.Status
			}
		}
	})
	if err != nil {
		return err
	}
	return out.write(c, value)
}

func details(s model.Status, data bool) map[string]any {
	d := map[string]any{"status": s.Status}
	if data {
		d["message"], d["status-data"] = s.Message, map[string]any{}
	}
	return d
}

// goalUnit is one unit in goal-state.
type goalUnit struct {
	Status string `json:"status" yaml:"status"`
	Since  string `json:"since,omitempty" yaml:"since,omitempty"`
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
	var out output
	f := flags{}
	out.flags(f, "yaml", "json")
	args, err := f.parse(c.request.Args)
	if err == nil {
		err = none(args)
	}
	if err != nil {
		return usage(err)
	}
	goal := struct {
		Units     map[string]goalUnit            `json:"units" yaml:"units"`
		Relations map[string]map[string]goalUnit `json:"relations" yaml:"relations"`
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
	return out.write(c, goal)
}
