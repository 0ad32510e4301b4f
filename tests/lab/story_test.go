package lab_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The stories of testdata/juju have been told to Juju's own code, by
// tests/conformance, whose story_test.go has these types too: the two modules
// share no code. What Juju answered stands beside each step.
type story struct {
	Name    string            `json:"name"`
	Scripts map[string]string `json:"scripts"`
	Steps   []step            `json:"steps"`
}

type step struct {
	Do       string            `json:"do"`
	Unit     string            `json:"unit"`
	Endpoint string            `json:"endpoint"`
	App      string            `json:"app"`
	Count    int               `json:"count"`
	Relation int               `json:"relation"`
	Units    []string          `json:"units"`
	Data     map[string]string `json:"data"`
	Action   string            `json:"action"`
	Args     []string          `json:"args"`
	NoRetry  bool              `json:"no-retry"`
	Scripts  map[string]string `json:"scripts"`
	At       *place            `json:"at"`

	Hooks   map[string][]string `json:"hooks"`
	Failed  map[string]string   `json:"failed"`
	Refused string              `json:"refused"`
	Result  *ended              `json:"result"`
	Answers []answer            `json:"answers"`
	Seen    *seenModel          `json:"seen"`
}

// place is a hook or action in which commands are run.
type place struct {
	Unit  string   `json:"unit"`
	Hook  string   `json:"hook"`
	Calls []string `json:"calls"`
	Fail  bool     `json:"fail"`
}

type answer struct {
	Call   string `json:"call"`
	Code   int    `json:"code"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

type ended struct {
	Status  string         `json:"status"`
	Message string         `json:"message"`
	Results map[string]any `json:"results"`
	Log     []string       `json:"log"`
}

type seenModel struct {
	Leader         string                       `json:"leader"`
	LeaderSettings map[string]string            `json:"leader-settings"`
	Version        string                       `json:"app-version"`
	Workload       map[string]string            `json:"workload"`
	Ports          map[string][]string          `json:"ports"`
	State          map[string]map[string]string `json:"state"`
	App            map[string]map[string]string `json:"app"`
	Units          map[string]map[string]string `json:"units"`
}

func readStories(t *testing.T, file string) (all []story) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "juju", file))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
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
