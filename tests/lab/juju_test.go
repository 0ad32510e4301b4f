package lab_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
	"github.com/ovn-central/ovn-central-operator/tests/lab/recorded"
)

func TestLabAnswersAsJuju(t *testing.T) {
	for _, file := range recorded.Files {
		stories, err := recorded.Read("testdata/juju", file)
		require.NoError(t, err)
		for _, told := range stories {
			t.Run(strings.TrimSuffix(file, ".json")+"/"+told.Name, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, lab.Options{Charm: newCharm(t, told.Scripts), JujuVersion: "3.5.0"})
				teller := &teller{t: t, lab: l, units: map[string]*lab.Unit{}}
				for i, s := range told.Steps {
					teller.take(fmt.Sprintf("step %d: %s", i+1, s.Do), s)
				}
			})
		}
	}
}

// teller tells one story.
type teller struct {
	t     *testing.T
	lab   *lab.Lab
	units map[string]*lab.Unit // those that were removed too
}

// take takes one step and compares what comes of it.
func (g *teller) take(name string, s *recorded.Step) {
	g.t.Helper()
	before := map[string]int{}
	for unit, u := range g.units {
		before[unit] = len(u.Hooks())
	}
	if s.At != nil {
		on(g.t, g.units[s.At.Unit], s.At.Hook, s.Script())
	}
	for hook, text := range s.Scripts {
		on(g.t, g.units[s.Unit], hook, text)
	}
	result, err := g.do(s)
	failed := (*lab.HookError)(nil)
	if err != nil && !errors.As(err, &failed) {
		assert.Equal(g.t, s.Refused, err.Error(), name)
	} else {
		assert.Empty(g.t, s.Refused, name)
	}
	hooks, inError := map[string][]string{}, map[string]string{}
	for unit, u := range g.units {
		if fresh := u.Hooks()[before[unit]:]; len(fresh) > 0 {
			hooks[unit] = withoutSkipped(fresh)
		}
		if status := u.Agent(); status.Status == "error" && !u.Removed() {
			inError[unit] = status.Message
		}
	}
	assert.Equal(g.t, recorded.Ordered(s.Hooks), recorded.Ordered(hooks), name)
	assert.Equal(g.t, notNil(s.Failed), inError, name)
	if s.Result != nil {
		want := lab.ActionResult{
			Status: s.Result.Status, Message: s.Result.Message, Results: flatten("", s.Result.Results), Log: s.Result.Log,
		}
		result.ID = ""
		assert.Equal(g.t, want, result, "%s %s", name, s.Args)
	}
	if s.At != nil {
		g.compareAnswers(name, s)
		on(g.t, g.units[s.At.Unit], s.At.Hook, "")
	}
	if s.Seen != nil {
		assert.Equal(g.t, complete(*s.Seen), g.look(), name)
	}
}

func notNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// withoutSkipped leaves out what `juju resolved --no-retry` skipped: it isn't run.
func withoutSkipped(hooks []string) []string {
	return slices.DeleteFunc(slices.Clone(hooks), func(h string) bool { return strings.HasSuffix(h, " (skipped)") })
}

// do does what a step says.
func (g *teller) do(s *recorded.Step) (result lab.ActionResult, err error) {
	// A step may be a hook with hundreds of calls.
	c, cancel := contextOf(g.t, 5*time.Minute)
	defer cancel()
	u := g.units[s.Unit]
	switch s.Do {
	case "add":
		u, err = g.lab.AddUnitWith(c, lab.AddOptions{NoDatabases: true})
		if u != nil {
			g.units[u.Name()] = u
		}
	case "remove":
		err = g.lab.RemoveUnit(c, u, lab.RemoveOptions{})
	case "remove-application":
		err = g.lab.RemoveApplication(c)
	case "restart-agent":
		if err = u.RestartAgent(); err == nil {
			err = g.lab.Settle(c)
		}
	case "reboot":
		leader := g.lab.Leader()
		if err = u.PowerOff(); err == nil {
			// It is back before its lease of the leadership has run out.
			g.lab.Hold(true)
			err = errors.Join(g.lab.SetLeader(c, leader), u.PowerOn(c))
			g.lab.Hold(false)
			err = errors.Join(err, g.lab.Settle(c))
		}
	case "relate":
		_, err = g.lab.Relate(c, s.Endpoint, s.App, s.Count)
	case "unrelate":
		err = g.lab.Unrelate(c, s.Relation)
	case "remote-set":
		err = g.lab.RemoteSet(c, s.Relation, s.Unit, s.Data)
	case "remote-units":
		err = g.lab.RemoteUnits(c, s.Relation, s.Units...)
	case "set-leader":
		err = g.lab.SetLeader(c, u)
	case "leader-settings":
		err = g.lab.SetLeaderSettings(c, s.Data)
	case "config":
		err = g.lab.Configure(c, s.Data)
	case "address":
		err = g.lab.SetAddress(c, u, s.Units...)
	case "refresh":
		err = g.lab.Refresh(c, newCharm(g.t, nil))
	case "update-status":
		err = g.lab.RunHook(c, u, "update-status")
	case "resolved":
		err = g.lab.Resolved(c, u, s.NoRetry)
	case "run":
		result, err = g.lab.RunAction(c, u, s.Action, s.Args...)
	case "look":
	default:
		g.t.Fatalf("no such step: %s", s.Do)
	}
	return result, err
}

func (g *teller) compareAnswers(name string, s *recorded.Step) {
	g.t.Helper()
	got, err := s.Collect(g.units[s.At.Unit].CharmDir())
	assert.NoError(g.t, err, name)
	for i := range got {
		assert.Equal(g.t, s.Answers[i], got[i], name)
	}
}

func (g *teller) look() recorded.Seen {
	seen := complete(recorded.Seen{LeaderSettings: g.lab.LeaderSettings(), Version: g.lab.WorkloadVersion()})
	if leader := g.lab.Leader(); leader != nil {
		seen.Leader = leader.Name()
	}
	for _, u := range g.lab.Units() {
		status := u.Workload()
		seen.Workload[u.Name()] = strings.TrimSpace(status.Status + " " + status.Message)
		if ports := u.OpenedPorts(); len(ports) > 0 {
			slices.Sort(ports)
			seen.Ports[u.Name()] = ports
		}
	}
	for id := 1; id < 10; id++ {
		data := g.lab.RelationData(id)
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

// complete has no map that is nil.
func complete(s recorded.Seen) recorded.Seen {
	if s.Workload == nil {
		s.Workload = map[string]string{}
	}
	if s.Ports == nil {
		s.Ports = map[string][]string{}
	}
	if s.App == nil {
		s.App = map[string]map[string]string{}
	}
	if s.Units == nil {
		s.Units = map[string]map[string]string{}
	}
	return s
}

// flatten is how the lab has an action's results.
func flatten(prefix string, tree map[string]any) map[string]string {
	flat := map[string]string{}
	for key, value := range tree {
		if branch, is := value.(map[string]any); is {
			for deep, text := range flatten(prefix+key+".", branch) {
				flat[deep] = text
			}
			continue
		}
		flat[prefix+key] = fmt.Sprint(value)
	}
	return flat
}
