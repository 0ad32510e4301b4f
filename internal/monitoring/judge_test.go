//go:build programs

package monitoring_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// judge returns an error unless exactly those of the alerts that the rules have fire, as promtool evaluates them.
func judge(t *testing.T, tool string, rules relation.AlertRules, input []series, firing []string) error {
	t.Helper()
	return judgeAt(t, tool, rules, input, "1m", "90m", firing)
}

// judgeAt is judge at a time, with an interval of scrapes and evaluations.
func judgeAt(t *testing.T, tool string, rules relation.AlertRules, input []series, often, at string, firing []string) error {
	t.Helper()
	known := map[string]bool{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			known[rule.Alert] = true
		}
	}
	type sample struct {
		Labels string `json:"labels"`
		Value  int    `json:"value"`
	}
	expected := map[string]sample{}
	for _, name := range firing {
		if !known[name] {
			continue
		}
		expected[name] = sample{Labels: fmt.Sprintf("{alertname=%q}", name), Value: 1}
	}
	test := map[string]any{
		"rule_files": []string{rulesFile(t, rules)}, "evaluation_interval": often,
		"tests": []any{map[string]any{
			"interval": often, "input_series": input,
			"promql_expr_test": []any{map[string]any{
				"expr": `group by (alertname) (ALERTS{alertstate="firing"})`, "eval_time": at,
				"exp_samples": slices.Collect(maps.Values(expected)),
			}},
		}},
	}
	data, err := json.Marshal(test)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: tool, Args: []string{"test", "rules", path}})
	if err != nil {
		t.Logf("%s %v", out, err)
	}
	return err
}
