package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/controller"
	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/recorded"
)

// stories is the directory of those that run twice: on Juju, which records, and on the lab, which must match.
const stories = "../../harness/lab/testdata/juju"

var update = flag.Bool("update", false, "write down what Juju answers")

func TestJuju_answers_as_recorded(t *testing.T) {
	for _, file := range recorded.Files {
		t.Run(file, func(t *testing.T) {
			told, err := recorded.Read(stories, file)
			require.NoError(t, err)
			t.Run("told", func(t *testing.T) {
				for _, story := range told {
					t.Run(story.Name, func(t *testing.T) {
						t.Parallel()
						tell(t, story)
					})
				}
			})
			want, err := format(told)
			require.NoError(t, err)
			path := filepath.Join(stories, file)
			if *update {
				require.NoError(t, os.WriteFile(path, want, 0o644))
			}
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), "its form; -update brings it into it")
		})
	}
}

// tell runs a story on Juju and compares the answers.
func tell(t *testing.T, story recorded.Story) {
	t.Helper()
	s := newDeployment(t, story.Scripts)
	for i, step := range story.Steps {
		got, err := recorded.Take(s, step)
		require.NoError(t, err)
		if *update {
			step.Hooks, step.Failed, step.Refused = got.Hooks, got.Failed, got.Refused
			step.Result, step.Answers, step.Seen = got.Result, got.Answers, got.Seen
			continue
		}
		assert.Equal(t, step.Outcome(), got.Outcome(), "step %d: %s %s", i+1, step.Do, step.Args)
	}
}

// Hooks implements [recorded.Juju].
func (s *deployment) Hooks() map[string][]string {
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

// Failed implements [recorded.Juju].
func (s *deployment) Failed() map[string]string { return s.settle() }

// Place implements [recorded.Juju]: it is as the charm's own script.
func (s *deployment) Place(unit, hook, text string) error {
	return os.WriteFile(filepath.Join(s.CharmDir(unit), "on-"+hook), []byte(text), 0o644)
}

// Do implements [recorded.Juju]. What follows from a step settles by itself.
func (s *deployment) Do(step *recorded.Step) (*recorded.Result, error) {
	if step.Do == "run" {
		return s.runAction(step)
	}
	return nil, s.change(step)
}

func (s *deployment) change(step *recorded.Step) error {
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
	default:
		return fmt.Errorf("no such step: %s", step.Do)
	}
	return nil
}

func (s *deployment) runAction(step *recorded.Step) (*recorded.Result, error) {
	given, err := controller.Params(step.Unit, step.Action, step.Args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	a, err := s.Run(ctx, step.Unit, step.Action, given)
	if err != nil {
		return nil, err
	}
	return &recorded.Result{Status: a.Status, Message: a.Message, Results: a.Results, Log: a.Log}, nil
}

// See implements [recorded.Juju].
func (s *deployment) See() *recorded.Seen {
	seen := &recorded.Seen{
		Workload: map[string]string{}, Ports: map[string][]string{},
		App: map[string]map[string]string{}, Units: map[string]map[string]string{},
	}
	status := s.Status()
	seen.Leader, seen.LeaderSettings, seen.Version = status.Leader, status.LeaderSettings, status.AppVersion
	s.Look(func(state controller.State) {
		for name := range state.Units {
			word := status.Units[name].Workload
			seen.Workload[name] = strings.TrimSpace(word.Status + " " + word.Message)
			if ports := slices.Sorted(slices.Values(status.Units[name].Ports)); len(ports) > 0 {
				seen.Ports[name] = ports
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
	return seen
}

const width = 160

// plain matches a value without nested parts.
var plain = regexp.MustCompile(`^[\[{]?("(\\.|[^"\\])*"|[^"\[\]{}])*[\]}]?$`)

// format writes stories for people: a value that fits a line, or has no nested parts, is on one line.
func format(stories []recorded.Story) ([]byte, error) {
	var compact, b bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(stories); err != nil {
		return nil, err
	}
	if err := layOut(&b, bytes.TrimSpace(compact.Bytes()), 0); err != nil {
		return nil, err
	}
	b.WriteString("\n")
	return b.Bytes(), nil
}

func layOut(b *bytes.Buffer, value json.RawMessage, depth int) error {
	if len(value)+depth <= width || plain.Match(value) {
		b.Write(value)
		return nil
	}
	parts := json.NewDecoder(bytes.NewReader(value))
	if _, err := parts.Token(); err != nil {
		return err
	}
	b.WriteByte(value[0])
	for first := true; parts.More(); first = false {
		if !first {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat(" ", depth+1))
		if value[0] == '{' {
			key, err := parts.Token()
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%q: ", key)
		}
		var part json.RawMessage
		if err := parts.Decode(&part); err != nil {
			return err
		}
		if err := layOut(b, part, depth+1); err != nil {
			return err
		}
	}
	b.WriteString("\n" + strings.Repeat(" ", depth))
	b.WriteByte(value[len(value)-1])
	return nil
}
