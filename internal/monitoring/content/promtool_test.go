//go:build programs

package content_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/monitoring/content"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

type panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
	Links  []struct{ URL string } `json:"links"`
	Panels []panel                `json:"panels"`
}

// unpacked returns the dashboard as the COS agent gets it: unpacked by the real xz.
func unpacked(t *testing.T) (title, uid string, panels []panel) {
	t.Helper()
	all := content.Dashboards()
	require.Len(t, all, 1)
	packed, err := base64.StdEncoding.DecodeString(all[0])
	require.NoError(t, err)
	data, err := run.Exec{}.Run(t.Context(), run.Command{Name: "xz", Args: []string{"-dc"}, Stdin: packed})
	require.NoError(t, err)
	var d struct {
		Title  string  `json:"title"`
		UID    string  `json:"uid"`
		Panels []panel `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(data, &d))
	for _, p := range d.Panels {
		if p.Type == "row" {
			panels = append(panels, p.Panels...)
			p.Panels = nil
		}
		panels = append(panels, p)
	}
	return d.Title, d.UID, panels
}

// The observability stack shows one dashboard for each title and uid. So this one replaces the Python charm's
// (src/files/dashboards/ovn-exporter-ovsdb-grafana.json).
func TestDashboard_arrives_whole(t *testing.T) {
	t.Parallel()
	title, uid, panels := unpacked(t)
	assert.Equal(t, "Juju: OVN Central (OVSDB)", title)
	assert.Equal(t, "2242b26722e7d0026fb829afb49b23132ebffb47", uid)
	findings := text(t, "../../../docs/reference/findings.md")
	ids := map[int]bool{}
	for _, p := range panels {
		assert.False(t, ids[p.ID], "%s has the number of another panel", p.Title)
		ids[p.ID] = true
		if p.Type == "row" {
			continue
		}
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			selects(t, target.Expr)
		}
		assert.NotEmpty(t, p.Links, p.Title)
		for _, l := range p.Links {
			leads(t, l.URL, findings)
		}
	}
	assert.Greater(t, len(ids), 25)
}

// promtool returns the path of Prometheus' own program for testing rules.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is not installed: run tests/install-deps")
	}
	return path
}

// rulesFile writes rules as JSON. promtool reads YAML, of which JSON is a subset.
func rulesFile(t *testing.T, rules any) string {
	t.Helper()
	data, err := json.Marshal(rules)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

func TestPromtool_accepts_dashboard(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	_, _, panels := unpacked(t)
	var rules []map[string]string
	for _, p := range panels {
		for _, target := range p.Targets {
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			rules = append(rules, map[string]string{"record": "dashboard:panel", "expr": expr})
		}
	}
	groups := map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}
	_, err := run.Exec{}.Run(t.Context(),
		run.Command{Name: tool, Args: []string{"check", "rules", "--lint=none", rulesFile(t, groups)}})
	require.NoError(t, err)
}

// judge returns an error unless promtool fires exactly the given alerts, of all alerts in the rules.
func judge(t *testing.T, tool string, rules relation.AlertRules, input []series, firing ...string) error {
	t.Helper()
	// promtool spends most of its time on evaluations.
	return judgeAt(t, tool, rules, input, every{scrape: "1m", evaluate: "5m"}, "90m", firing...)
}

// every has Prometheus' two intervals.
type every struct{ scrape, evaluate string }

// judgeAt is like judge, at the time at.
func judgeAt(t *testing.T, tool string, rules relation.AlertRules, input []series, every every, at string,
	firing ...string,
) error {
	t.Helper()
	known := map[string]bool{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			known[rule.Alert] = true
		}
	}
	var expected []map[string]any
	for _, name := range firing {
		if known[name] {
			expected = append(expected, map[string]any{"labels": fmt.Sprintf("{alertname=%q}", name), "value": 1})
		}
	}
	test := map[string]any{
		"rule_files": []string{rulesFile(t, rules)}, "evaluation_interval": every.evaluate,
		"tests": []any{map[string]any{
			"interval": every.scrape, "input_series": input,
			"promql_expr_test": []any{map[string]any{
				"expr": `group by (alertname) (ALERTS{alertstate="firing"})`, "eval_time": at,
				"exp_samples": expected,
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
