package lab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/recorded"
)

func TestLab_answers_as_Juju(t *testing.T) {
	for _, file := range recorded.Files {
		stories, err := recorded.Read("testdata/juju", file)
		require.NoError(t, err)
		require.NotEmpty(t, stories, file)
		for _, told := range stories {
			t.Run(strings.TrimSuffix(file, ".json")+"/"+told.Name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, lab.Options{Charm: newCharm(t, told.Scripts), JujuVersion: "3.5.0"})
				juju := &told35{t: t, Lab: l, units: map[string]*lab.Unit{}}
				for i, step := range told.Steps {
					require.Equal(t, step.At != nil, len(step.Answers) > 0, "step %d: calls are at a hook", i+1)
					got, err := recorded.Take(juju, step)
					require.NoError(t, err)
					want := step.Outcome()
					if want.Result != nil {
						want.Result.Results = flatten(map[string]any{}, "", want.Result.Results)
					}
					for i := range got.Answers { // the lab's machines have dpkg's files in their own directories
						got.Answers[i].Stdout = strings.ReplaceAll(got.Answers[i].Stdout, "DPKG_ADMINDIR\n", "")
					}
					assert.Equal(t, want, got.Outcome(), "step %d: %s %s", i+1, step.Do, step.Args)
				}
			})
		}
	}
}

type told35 struct {
	*lab.Lab
	t     *testing.T
	units map[string]*lab.Unit // those that were removed too
}

func (g *told35) Place(unit, hook, script string) error {
	on(g.t, g.units[unit], hook, script)
	return nil
}

func (g *told35) CharmDir(unit string) string { return g.units[unit].CharmDir() }

// Hooks leaves out what `juju resolved --no-retry` skipped: it isn't run.
func (g *told35) Hooks() map[string][]string {
	all := map[string][]string{}
	for name, u := range g.units {
		all[name] = slices.DeleteFunc(slices.Clone(u.Hooks()), func(h string) bool { return strings.HasSuffix(h, " (skipped)") })
	}
	return all
}

func (g *told35) Failed() map[string]string {
	failed := map[string]string{}
	for name, u := range g.units {
		if status := u.Agent(); status.Status == "error" && !u.Removed() {
			failed[name] = status.Message
		}
	}
	return failed
}

// Do takes a step; a hook that fails because of it is seen in other ways.
func (g *told35) Do(s *recorded.Step) (*recorded.Result, error) {
	c := ctx(g.t)
	if s.Do == "run" {
		got, err := g.RunAction(c, g.units[s.Unit], s.Action, s.Args...)
		if got.ID == "" {
			return nil, err
		}
		results := map[string]any{}
		for key, value := range got.Results {
			results[key] = value
		}
		return &recorded.Result{Status: got.Status, Message: got.Message, Results: results, Log: got.Log}, err
	}
	err := g.change(c, s)
	if errors.As(err, new(*lab.HookError)) {
		err = nil
	}
	return nil, err
}

func (g *told35) change(c context.Context, s *recorded.Step) (err error) {
	u := g.units[s.Unit]
	switch s.Do {
	case "add":
		if u, err = g.AddUnitWith(c, lab.AddOptions{NoDatabases: true}); u != nil {
			g.units[u.Name()] = u
		}
	case "remove":
		return g.RemoveUnit(c, u, lab.RemoveOptions{})
	case "remove-application":
		return g.RemoveApplication(c)
	case "restart-agent":
		u.RestartAgent()
		return g.Settle(c)
	case "reboot":
		leader := g.Leader()
		if err = u.PowerOff(); err == nil {
			// It is back before its lease of the leadership has run out.
			g.Hold(true)
			err = errors.Join(g.SetLeader(c, leader), u.PowerOn(c))
			g.Hold(false)
			err = errors.Join(err, g.Settle(c))
		}
	case "relate":
		_, err = g.Relate(c, s.Endpoint, s.App, s.Count)
	case "unrelate":
		return g.Unrelate(c, s.Relation)
	case "remote-set":
		return g.RemoteSet(c, s.Relation, s.Unit, s.Data)
	case "remote-units":
		return g.RemoteUnits(c, s.Relation, s.Units...)
	case "set-leader":
		return g.SetLeader(c, u)
	case "leader-settings":
		return g.SetLeaderSettings(c, s.Data)
	case "config":
		return g.Configure(c, s.Data)
	case "address":
		return g.SetAddress(c, u, s.Units...)
	case "refresh":
		return g.Refresh(c, newCharm(g.t, nil))
	case "update-status":
		return g.RunHook(c, u, "update-status")
	case "resolved":
		return g.Resolved(c, u, s.NoRetry)
	default:
		return fmt.Errorf("no such step: %s", s.Do)
	}
	return err
}

func (g *told35) See() *recorded.Seen {
	seen := &recorded.Seen{
		LeaderSettings: g.LeaderSettings(), Version: g.WorkloadVersion(), Workload: map[string]string{},
		Ports: map[string][]string{}, App: map[string]map[string]string{}, Units: map[string]map[string]string{},
	}
	if leader := g.Leader(); leader != nil {
		seen.Leader = leader.Name()
	}
	for _, u := range g.Units() {
		status := u.Workload()
		seen.Workload[u.Name()] = strings.TrimSpace(status.Status + " " + status.Message)
		if ports := u.OpenedPorts(); len(ports) > 0 {
			slices.Sort(ports)
			seen.Ports[u.Name()] = ports
		}
	}
	for id := 1; id < 10; id++ {
		data := g.RelationData(id)
		if data.Name == "" {
			continue
		}
		seen.App[data.Name] = data.App
		for unit, bag := range data.Units {
			seen.Units[data.Name+" "+unit] = bag
		}
	}
	return seen
}

// flatten converts results to the lab's form.
func flatten(flat map[string]any, prefix string, tree map[string]any) map[string]any {
	for key, value := range tree {
		if branch, is := value.(map[string]any); is {
			flatten(flat, prefix+key+".", branch)
		} else {
			flat[prefix+key] = fmt.Sprint(value)
		}
	}
	return flat
}
