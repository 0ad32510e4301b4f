package conformance_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/conformance/controller"
)

var update = flag.Bool("update", false, "write down what Juju answers")

func TestJujuAnswersAsTheStoriesSay(t *testing.T) {
	for _, file := range []string{"orders.json", "tools.json", "actions.json", "failures.json"} {
		t.Run(file, func(t *testing.T) {
			told := readStories(t, file)
			t.Run("told", func(t *testing.T) {
				for _, story := range told {
					t.Run(story.Name, func(t *testing.T) {
						t.Parallel()
						tell(t, story)
					})
				}
			})
			if !*update {
				return
			}
			text, err := json.MarshalIndent(told, "", " ")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(stories, file), append(text, '\n'), 0o644))
		})
	}
}

// tell tells a story to Juju and compares what comes of it.
func tell(t *testing.T, story Story) {
	t.Helper()
	s := newScene(t, story.Scripts)
	for i, step := range story.Steps {
		got := s.take(step)
		if *update {
			step.Hooks, step.Failed, step.Refused = got.Hooks, got.Failed, got.Refused
			step.Result, step.Answers, step.Seen = got.Result, got.Answers, got.Seen
			continue
		}
		name := fmt.Sprintf("step %d: %s", i+1, step.Do)
		assert.Equal(t, ordered(step.Hooks), ordered(got.Hooks), name)
		assert.Equal(t, step.Failed, got.Failed, name)
		assert.Equal(t, step.Refused, got.Refused, name)
		assert.Equal(t, step.Result, got.Result, name)
		assert.Equal(t, step.Answers, got.Answers, name)
		assert.Equal(t, step.Seen, got.Seen, name)
	}
}

// relationHook tells the endpoint of a relation's hook.
var relationHook = regexp.MustCompile(`^(.*)-relation-`)

// ordered brings the hooks of several relations into one order: before 3.6 that
// of a Go map decides among relations.
func ordered(hooks map[string][]string) map[string][]string {
	all := map[string][]string{}
	for unit, some := range hooks {
		some = slices.Clone(some)
		for start := 0; start < len(some); start++ {
			end := start
			for end < len(some) && relationHook.MatchString(some[end]) {
				end++
			}
			slices.SortStableFunc(some[start:end], func(a, b string) int {
				return strings.Compare(relationHook.FindString(a), relationHook.FindString(b))
			})
			start = max(start, end-1)
		}
		all[unit] = some
	}
	return all
}

// take takes one step and returns what came of it.
func (s *scene) take(step *Step) (got Step) {
	s.t.Helper()
	before := s.history()
	if step.At != nil {
		s.t.Log(step.Do)
		s.place(step.At.Unit, step.At.Hook, step.At.script())
	}
	for hook, text := range step.Scripts {
		s.place(step.Unit, hook, text)
	}
	if err := s.do(step, &got); err != nil {
		got.Refused = err.Error()
	}
	if failed := s.settle(); len(failed) > 0 {
		got.Failed = failed
	}
	for unit, hooks := range s.history() {
		if fresh := hooks[len(before[unit]):]; len(fresh) > 0 {
			if got.Hooks == nil {
				got.Hooks = map[string][]string{}
			}
			got.Hooks[unit] = fresh
		}
	}
	if step.At != nil {
		got.Answers = s.answers(step.At)
		s.place(step.At.Unit, step.At.Hook, "")
	}
	return got
}

func (s *scene) history() map[string][]string {
	all := map[string][]string{}
	s.Look(func(state controller.State) {
		for _, units := range []map[string]*controller.Unit{state.Units, state.Gone} {
			for name, u := range units {
				all[name] = slices.Clone(u.Hooks)
			}
		}
	})
	return all
}

// do does what a step says.
func (s *scene) do(step *Step, got *Step) error {
	switch step.Do {
	case "add":
		n := 0
		s.Look(func(state controller.State) { n = state.NextUnit })
		s.add(fmt.Sprintf("10.99.0.%d", 10+n))
	case "remove":
		return s.RemoveUnit(step.Unit, false)
	case "remove-application":
		return s.RemoveApplication()
	case "restart-agent":
		s.restartAgent(step.Unit, agentConfig{})
	case "reboot":
		s.restartAgent(step.Unit, agentConfig{rebooted: true})
	case "relate":
		_, err := s.Relate(step.Endpoint, step.App, step.Count)
		return err
	case "unrelate":
		return s.Unrelate(step.Relation)
	case "remote-set":
		return s.RemoteSet(step.Relation, step.Unit, step.Data)
	case "remote-units":
		return s.RemoteUnits(step.Relation, step.Units...)
	case "set-leader":
		return s.SetLeader(step.Unit)
	case "leader-settings":
		return s.SetLeaderSettings(step.Data)
	case "config":
		return s.Configure(step.Data)
	case "address":
		return s.SetAddresses(step.Unit, step.Units...)
	case "refresh":
		return s.Refresh(charmDir(s.t, nil))
	case "update-status":
		return s.UpdateStatus(step.Unit)
	case "resolved":
		return s.Resolved(step.Unit, step.NoRetry)
	case "run":
		return s.runAction(step, got)
	case "look":
		got.Seen = s.look()
	default:
		s.t.Fatalf("no such step: %s", step.Do)
	}
	return nil
}

func (s *scene) runAction(step *Step, got *Step) error {
	given, err := controller.Params(step.Unit, step.Action, step.Args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	a, err := s.Run(ctx, step.Unit, step.Action, given)
	if err != nil {
		return err
	}
	got.Result = &Result{Status: a.Status, Message: a.Message, Results: a.Results, Log: a.Log}
	return nil
}

// place makes what a unit's charm does in a hook.
func (s *scene) place(unit, hook, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.charmDir(unit), "on-"+hook), []byte(text), 0o644))
}

// script runs the calls one after another and keeps what they say.
func (a *At) script() string {
	var text strings.Builder
	for i, call := range a.Calls {
		fmt.Fprintf(&text, "(%s\n) > ./answer-%d.out 2> ./answer-%d.err < /dev/null; echo $? > ./answer-%d.code\n", call, i, i, i)
	}
	if a.Fail {
		text.WriteString("exit 1\n")
	}
	return text.String()
}

// volatile is what differs from run to run: times.
var volatile = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)

func (s *scene) answers(at *At) (all []Answer) {
	s.t.Helper()
	for i, call := range at.Calls {
		code, err := strconv.Atoi(strings.TrimSpace(s.read(at.Unit, fmt.Sprintf("answer-%d.code", i))))
		require.NoError(s.t, err)
		all = append(all, Answer{
			Call: call, Code: code,
			Stdout: volatile.ReplaceAllString(s.read(at.Unit, fmt.Sprintf("answer-%d.out", i)), "TIME"),
			Stderr: strings.ReplaceAll(s.read(at.Unit, fmt.Sprintf("answer-%d.err", i)), s.charmDir(at.Unit), "CHARM"),
		})
	}
	return all
}

func (s *scene) look() *Seen {
	seen := &Seen{
		Workload: map[string]string{}, Ports: map[string][]string{}, State: map[string]map[string]string{},
		App: map[string]map[string]string{}, Units: map[string]map[string]string{},
	}
	status := s.Status()
	seen.Leader, seen.LeaderSettings, seen.Version = status.Leader, status.LeaderSettings, status.AppVersion
	s.Look(func(state controller.State) {
		for name, u := range state.Units {
			word := status.Units[name].Workload
			seen.Workload[name] = strings.TrimSpace(word.Status + " " + word.Message)
			if ports := slices.Sorted(slices.Values(status.Units[name].Ports)); len(ports) > 0 {
				seen.Ports[name] = ports
			}
			if kept := u.Kept.CharmState; kept != nil && len(*kept) > 0 {
				seen.State[name] = *kept
			}
		}
		for _, r := range state.Relations {
			key := fmt.Sprintf("%s:%d", r.Endpoint.Name, r.ID)
			seen.App[key] = maps.Clone(r.App.Settings)
			for name, bag := range r.Units {
				if bag.InScope {
					seen.Units[key+" "+name] = maps.Clone(bag.Settings)
				}
			}
		}
	})
	if len(seen.Ports) == 0 {
		seen.Ports = nil
	}
	if len(seen.State) == 0 {
		seen.State = nil
	}
	return seen
}
