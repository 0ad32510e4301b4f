package conformance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The stories are told twice: here to Juju, whose answers stand beside each
// step, and by the lab's tests to the lab, which has to give the same.
//
// stories is where they are.
const stories = "../lab/testdata/juju"

// Story is a series of things that happen to a model.
type Story struct {
	Name    string            `json:"name"`
	Scripts map[string]string `json:"scripts,omitempty"`
	Steps   []*Step           `json:"steps"`
}

// Step is one thing, and what comes of it when all has settled.
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

	// Hooks are those that were run because of it.
	Hooks map[string][]string `json:"hooks,omitempty"`
	// Failed are the units that are in error.
	Failed map[string]string `json:"failed,omitempty"`
	// Refused is why the step wasn't taken.
	Refused string   `json:"refused,omitempty"`
	Result  *Result  `json:"result,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
	Seen    *Seen    `json:"seen,omitempty"`
}

// At is a hook or action in which commands are run.
type At struct {
	Unit  string   `json:"unit"`
	Hook  string   `json:"hook"`
	Calls []string `json:"calls"`
	Fail  bool     `json:"fail,omitempty"`
}

// Answer is what a command said.
type Answer struct {
	Call   string `json:"call"`
	Code   int    `json:"code,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// Result is how an action ended.
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
	State          map[string]map[string]string `json:"state,omitempty"`
	App            map[string]map[string]string `json:"app"`   // by relation
	Units          map[string]map[string]string `json:"units"` // by relation and unit
}

func readStories(t *testing.T, file string) (all []Story) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stories, file))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}
