//go:build programs

package monitoring_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

type panel struct {
	ID      int    `json:"id"`
	Title   string `json:"title"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// unpacked is the dashboard as the agent gets it: by the real xz.
func unpacked(t *testing.T) (uid string, panels []panel) {
	t.Helper()
	all, err := monitoring.Dashboards()
	require.NoError(t, err)
	require.Len(t, all, 1)
	packed, err := base64.StdEncoding.DecodeString(all[0])
	require.NoError(t, err)
	data, err := run.Exec{}.Run(t.Context(), run.Command{Name: "xz", Args: []string{"-dc"}, Stdin: packed})
	require.NoError(t, err)
	var d struct {
		UID    string  `json:"uid"`
		Panels []panel `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(data, &d))
	return d.UID, d.Panels
}

func TestTheDashboardArrivesWhole(t *testing.T) {
	t.Parallel()
	uid, panels := unpacked(t)
	assert.Regexp(t, `^[0-9a-f]{40}$`, uid, "Grafana's charm makes up another one else")
	require.NotEmpty(t, panels)
	ids := map[int]bool{}
	for _, p := range panels {
		assert.False(t, ids[p.ID], "%s has the number of another panel", p.Title)
		ids[p.ID] = true
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			selects(t, target.Expr)
		}
	}
}

// promtool is Prometheus' own judge of rules.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is not installed: run tests/install-deps")
	}
	return path
}

// rulesFile writes rules as JSON, which promtool reads as the YAML that it is.
func rulesFile(t *testing.T, rules any) string {
	t.Helper()
	data, err := json.Marshal(rules)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

func TestPrometheusTakesTheRules(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	_, err := run.Exec{}.Run(t.Context(), run.Command{Name: tool, Args: []string{"check", "rules", rulesFile(t, alertRules(t))}})
	require.NoError(t, err)
}

func TestPrometheusTakesTheDashboardsExpressions(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	_, panels := unpacked(t)
	var rules []map[string]string
	for _, p := range panels {
		for _, target := range p.Targets {
			expr := strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")
			rules = append(rules, map[string]string{"record": "dashboard:panel", "expr": expr})
		}
	}
	groups := map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}
	_, err := run.Exec{}.Run(t.Context(), run.Command{Name: tool, Args: []string{"check", "rules", "--lint=none", rulesFile(t, groups)}})
	require.NoError(t, err)
}
