// Package recorded has the stories that Juju's own code played, with the outcome of each step: testdata/juju of the
// lab. tests/system/conformance, a module of its own under Juju's licence, tells them to Juju and writes its answers
// down; the lab's tests tell them to the lab, which has to give the same. Both modules build these files (there by
// links), so they import the standard library alone.
package recorded

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Files are the files with stories.
var Files = []string{"orders.json", "tools.json", "actions.json", "failures.json"}

// Story is a series of things that happen to a model.
type Story struct {
	Name    string            `json:"name"`
	Scripts map[string]string `json:"scripts,omitempty"`
	Steps   []*Step           `json:"steps"`
}

// Step is one event, with its results after all has settled.
type Step struct {
	Do       string            `json:"do"`
	Unit     string            `json:"unit,omitempty"`
	Endpoint string            `json:"endpoint,omitempty"`
	App      string            `json:"app,omitempty"`
	Count    int               `json:"count,omitempty"`
	Relation int               `json:"relation,omitempty"`
	Units    []string          `json:"units,omitempty"`
	Data     map[string]string `json:"data,omitempty"`
	Action   string            `json:"action,omitempty"`
	Args     []string          `json:"args,omitempty"`
	NoRetry  bool              `json:"no-retry,omitempty"`
	Scripts  map[string]string `json:"scripts,omitempty"` // of Unit's charm, from now on
	At       *At               `json:"at,omitempty"`

	// Hooks are the hooks that ran because of the step.
	Hooks map[string][]string `json:"hooks,omitempty"`
	// Failed are the units that are in error.
	Failed map[string]string `json:"failed,omitempty"`
	// Refused is why the step was refused.
	Refused string  `json:"refused,omitempty"`
	Result  *Result `json:"result,omitempty"`
	// Answers are the commands that run in the hook At, with their output.
	Answers []Answer `json:"answers,omitempty"`
	Seen    *Seen    `json:"seen,omitempty"`
}

// At is a hook or action in which commands are run.
type At struct {
	Unit string `json:"unit"`
	Hook string `json:"hook"`
	Fail bool   `json:"fail,omitempty"`
}

// Answer is the output of a command.
type Answer struct {
	Call   string `json:"call"`
	Code   int    `json:"code,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// Result is the outcome of an action.
type Result struct {
	Status  string         `json:"status"`
	Message string         `json:"message,omitempty"`
	Results map[string]any `json:"results,omitempty"`
	Log     []string       `json:"log,omitempty"`
}

// Seen is the model, as the controller knows it.
type Seen struct {
	Leader         string                       `json:"leader"`
	LeaderSettings map[string]string            `json:"leader-settings"`
	Version        string                       `json:"app-version,omitempty"`
	Workload       map[string]string            `json:"workload"`
	Ports          map[string][]string          `json:"ports,omitempty"`
	App            map[string]map[string]string `json:"app"`   // by relation
	Units          map[string]map[string]string `json:"units"` // by relation and unit
}

// Read reads the stories of a file.
func Read(dir, file string) (all []Story, err error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}

// Script returns a shell script that runs the step's calls in turn and keeps their output in the charm's directory.
func (s *Step) Script() string {
	var text strings.Builder
	for i, a := range s.Answers {
		fmt.Fprintf(&text, "(%s\n) > ./answer-%d.out 2> ./answer-%d.err < /dev/null; echo $? > ./answer-%d.code\n", a.Call, i, i, i)
	}
	if s.At.Fail {
		text.WriteString("exit 1\n")
	}
	return text.String()
}

var volatile = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)

// Collect reads the output of the step's calls in the charm's directory.
func (s *Step) Collect(charm string) (all []Answer, err error) {
	for i, asked := range s.Answers {
		parts := map[string]string{}
		for _, part := range []string{"out", "err", "code"} {
			text, err := os.ReadFile(filepath.Join(charm, fmt.Sprintf("answer-%d.%s", i, part)))
			if err != nil {
				return all, fmt.Errorf("cannot read what %q said: %w", asked.Call, err)
			}
			parts[part] = string(text)
		}
		code, err := strconv.Atoi(strings.TrimSpace(parts["code"]))
		if err != nil {
			return all, fmt.Errorf("cannot read how %q ended: %w", asked.Call, err)
		}
		all = append(all, Answer{
			Call: asked.Call, Code: code, Stdout: volatile.ReplaceAllString(parts["out"], "TIME"),
			Stderr: strings.ReplaceAll(parts["err"], charm, "CHARM"),
		})
	}
	return all, nil
}

var relationHook = regexp.MustCompile(`^(.*)-relation-`)

// Ordered sorts the hooks of several relations: before Juju 3.6 a Go map decides their order.
func Ordered(hooks map[string][]string) map[string][]string {
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
