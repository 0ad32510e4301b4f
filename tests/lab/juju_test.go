package lab_test

import (
	"errors"
	"fmt"
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

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

func TestLabAnswersAsJuju(t *testing.T) {
	for _, file := range []string{"orders.json", "tools.json", "actions.json", "failures.json"} {
		for _, told := range readStories(t, file) {
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
func (g *teller) take(name string, s step) {
	g.t.Helper()
	before := map[string]int{}
	for unit, u := range g.units {
		before[unit] = len(u.Hooks())
	}
	if s.At != nil {
		on(g.t, g.units[s.At.Unit], s.At.Hook, s.At.script())
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
	assert.Equal(g.t, ordered(s.Hooks), ordered(hooks), name)
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
func (g *teller) do(s step) (result lab.ActionResult, err error) {
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

// script runs the calls one after another and keeps what they say.
func (p *place) script() string {
	var text strings.Builder
	for i, call := range p.Calls {
		fmt.Fprintf(&text, "(%s\n) > ./answer-%d.out 2> ./answer-%d.err < /dev/null; echo $? > ./answer-%d.code\n", call, i, i, i)
	}
	if p.Fail {
		text.WriteString("exit 1\n")
	}
	return text.String()
}

// volatile is what differs from run to run: times.
var volatile = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)

func (g *teller) compareAnswers(name string, s step) {
	g.t.Helper()
	dir := g.units[s.At.Unit].CharmDir()
	for i, call := range s.At.Calls {
		code, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("answer-%d.code", i)))
		if !assert.NoError(g.t, err, "%s: %s", name, call) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(code)))
		require.NoError(g.t, err)
		got := answer{
			Call: call, Code: n, Stdout: volatile.ReplaceAllString(read(g.t, dir, fmt.Sprintf("answer-%d.out", i)), "TIME"),
			Stderr: strings.ReplaceAll(read(g.t, dir, fmt.Sprintf("answer-%d.err", i)), dir, "CHARM"),
		}
		assert.Equal(g.t, s.Answers[i], got, name)
	}
}

// relationHook tells the endpoint of a relation's hook.
var relationHook = regexp.MustCompile(`^(.*)-relation-`)

// ordered brings the hooks of several relations into one order: before Juju 3.6
// that of a Go map decides among relations.
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

func (g *teller) look() seenModel {
	seen := complete(seenModel{LeaderSettings: g.lab.LeaderSettings(), Version: g.lab.WorkloadVersion()})
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
		if state := u.CharmState(); len(state) > 0 {
			seen.State[u.Name()] = state
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
func complete(s seenModel) seenModel {
	if s.Workload == nil {
		s.Workload = map[string]string{}
	}
	if s.Ports == nil {
		s.Ports = map[string][]string{}
	}
	if s.State == nil {
		s.State = map[string]map[string]string{}
	}
	if s.App == nil {
		s.App = map[string]map[string]string{}
	}
	if s.Units == nil {
		s.Units = map[string]map[string]string{}
	}
	return s
}
