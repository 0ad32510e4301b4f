package deployment

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/content"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// prometheus is a real Prometheus in the hub's network. It scrapes the agents and evaluates their alert rules.
type prometheus struct {
	*labtest.Model
	dir string
}

// topology is the lab's application as the observability stack labels it.
var topology = relation.Topology{Model: "net", ModelUUID: "c2e9f4d5-dcb3-4870-8509-330eb9745ee8", App: "ovn-central", Charm: "ovn-central"}

func newPrometheus(c *labtest.Model, units ...*lab.Unit) *prometheus {
	c.T.Helper()
	p := &prometheus{Model: c, dir: c.T.TempDir()}
	var targets []any
	for _, u := range units {
		labels := map[string]string{"juju_model": topology.Model, "juju_model_uuid": topology.ModelUUID, "juju_application": topology.App, "juju_unit": u.Name()}
		targets = append(targets, map[string]any{"targets": []string{u.Address() + ":16402"}, "labels": labels})
	}
	files := c.ClientCredentials()
	p.write("rules.json", content.AlertRules().For(topology, "juju run ovn-central/leader cluster-status"))
	p.write("prometheus.json", map[string]any{
		"global":     map[string]any{"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"},
		"rule_files": []string{p.path("rules.json")},
		"scrape_configs": []any{map[string]any{
			"job_name": topology.App + "_ovn-central-agent", "scheme": "https", "static_configs": targets,
			"tls_config": map[string]any{"cert_file": files.Certificate, "key_file": files.Key, "ca_file": files.CA, "insecure_skip_verify": true},
		}},
	})
	labtest.Output(c.T, c, "promtool", "check", "config", p.path("prometheus.json"))
	namespace, err := c.HubNamespace()
	require.NoError(c.T, err)
	ovsdbtest.Run(c.T, nil, "nsenter", "--net="+namespace, "--", "prometheus", "--config.file="+p.path("prometheus.json"),
		"--storage.tsdb.path="+p.path("data"), "--web.listen-address=127.0.0.1:9090", "--log.level=error")
	return p
}

func (p *prometheus) path(name string) string { return filepath.Join(p.dir, name) }

func (p *prometheus) write(name string, content any) {
	p.T.Helper()
	text, err := json.Marshal(content)
	require.NoError(p.T, err)
	require.NoError(p.T, os.WriteFile(p.path(name), text, 0o600))
}

func (p *prometheus) get(path string, data any, parameters ...string) error {
	args := []string{"-sS", "--get", "--max-time", "5", "http://127.0.0.1:9090/api/v1/" + path}
	for _, parameter := range parameters {
		args = append(args, "--data-urlencode", parameter)
	}
	text, err := p.Exec(p.T.Context(), "curl", args...)
	if err != nil {
		return err
	}
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("Prometheus answers: %s", answer.Error)
	}
	return nil
}

func (p *prometheus) query(expr string) int {
	p.T.Helper()
	var data struct{ Result []any }
	require.NoError(p.T, p.get("query", &data, "query="+expr), expr)
	return len(data.Result)
}

func (p *prometheus) until(expr string) {
	p.T.Helper()
	var data struct{ Result []any }
	p.Eventually(expr, func() bool { return p.get("query", &data, "query="+expr) == nil && len(data.Result) > 0 })
}

// panels returns the queries of the dashboard's panels, and the one that shows alerts in all of them, with all values
// of its variables.
func (p *prometheus) panels() (panels map[string][]string, alerts string) {
	p.T.Helper()
	data, err := base64.StdEncoding.DecodeString(content.Dashboards()[0])
	require.NoError(p.T, err)
	cmd := exec.CommandContext(p.T.Context(), "xz", "-dc")
	cmd.Stdin = strings.NewReader(string(data))
	text, err := cmd.Output()
	require.NoError(p.T, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Annotations struct{ List []struct{ Expr string } }
	}
	require.NoError(p.T, json.Unmarshal(text, &dashboard))
	queries := map[string][]string{}
	variable := regexp.MustCompile(`\$juju_\w+`)
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets { // a row has none
			queries[panel.Title] = append(queries[panel.Title], variable.ReplaceAllString(target.Expr, ".*"))
		}
	}
	require.Len(p.T, dashboard.Annotations.List, 1)
	return queries, variable.ReplaceAllString(dashboard.Annotations.List[0].Expr, ".*")
}

// workload makes gateways, one of which can't be moved, a drain and a backup.
func (p *prometheus) workload(u *lab.Unit) {
	p.T.Helper()
	ovsdbtest.Follow(p.T, "unix:"+u.Socket(lab.SB))
	for name, at := range map[string]string{"gw1": "192.0.2.1", "gw2": "192.0.2.2"} {
		labtest.Tool(p.T, u, "ovn-sbctl", lab.SB, "chassis-add", name, "geneve", at, "--", "set", "Chassis", name,
			"hostname="+name, "other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	}
	labtest.Tool(p.T, u, "ovn-nbctl", lab.NB, "ls-add", "public", "--", "lsp-add", "public", "ln", "--", "lsp-set-type", "ln", "localnet", "--", "lsp-set-options", "ln", "network_name=physnet1", "--",
		"lr-add", "r1", "--", "lrp-add", "r1", "lrp-1", "00:00:00:00:00:01", "10.0.1.1/24", "--",
		"lsp-add", "public", "p1", "--", "lsp-set-type", "p1", "router", "--", "lsp-set-options", "p1", "router-port=lrp-1", "--",
		"lrp-set-gateway-chassis", "lrp-1", "gw1", "2", "--", "lrp-set-gateway-chassis", "lrp-1", "gw2", "1")
	p.Act(u, "drain", "node=gw1", "timeout=30", "grace-period=0", "i-really-mean-it=true")
	p.Act(u, "backup")
}

// Every panel and alert gets data from real agents. Data of a silent source are no longer exported.
func TestMetrics_scraped_by_Prometheus(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 3, lab.Options{})
	require.NoError(t, c.Configure(t.Context(), map[string]string{"backup-interval": "1"}))
	p := newPrometheus(c, units...)
	p.workload(units[0])
	for _, u := range units {
		text := labtest.Output(t, u, "curl", "-sS", "http://127.0.0.1:16401/metrics")
		cmd := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
		assert.Empty(t, string(out))
	}
	p.logs(units[0])
	down := c.Followers()[0]
	require.NoError(t, down.Stop(t.Context(), lab.SB))
	for _, expr := range []string{
		"count(up == 1) == 3", `ovn_central_server_up{database="sb"} == 0`, fmt.Sprintf("ovn_central_finding{code=%q}", finding.MemberDown),
		`count(rate(ovn_central_lease_changes_total[1m])) == 3`, `ovn_central_drain_gateways`, `ovn_central_backup_newest_timestamp_seconds`,
	} {
		p.until(expr)
	}
	panels, alerts := p.panels()
	for title, queries := range panels {
		for _, query := range queries {
			found := p.query(query)
			t.Logf("%s: %d series", title, found)
			assert.NotZero(t, found, "%s: %s", title, query)
		}
	}
	p.alerts()

	// The source of these is silent.
	stopped := func(metric string) string {
		return fmt.Sprintf("%s{juju_unit=%q,database=\"sb\"}", metric, down.Name())
	}
	for _, metric := range []string{"ovn_central_member_role", "ovn_central_raft_term", "ovn_central_members_up", "ovn_central_member_info"} {
		assert.Zero(t, p.query(stopped(metric)), metric)
	}
	p.until(fmt.Sprintf(`ALERTS{alertname="OVNServerDown",juju_unit=%q}`, down.Name()))
	p.until(strings.Replace(alerts, "firing", "pending", 1)) // it fires after minutes
	acting := labtest.ActingUnit(t, units...)
	require.NoError(t, acting.Hang(lab.NB))
	p.until(fmt.Sprintf("count(up == 1) == 3 unless on () ovn_central_chassis{juju_unit=%q}", acting.Name()))
	require.NoError(t, acting.Resume(lab.NB))
	_, code, err := acting.Systemctl(t.Context(), "stop", labtest.AgentService)
	require.NoError(t, err)
	require.Zero(t, code)
	p.until(fmt.Sprintf(`ALERTS{alertname="OVNAgentDown",juju_unit=%q}`, acting.Name()))
	assert.Zero(t, p.query(fmt.Sprintf("{__name__=~\"ovn_central_.*\",juju_unit=%q}", acting.Name())))
}

// selector matches a metric in an expression.
var selector = regexp.MustCompile(`\b(up|ovn_central_\w+)\{[^}]*\}`)

// alerts checks that each alert's metrics exist, and that Prometheus evaluates it without an error.
func (p *prometheus) alerts() {
	p.T.Helper()
	var judged struct {
		Groups []struct {
			Rules []struct{ Name, Query, Health, LastError string }
		}
	}
	require.NoError(p.T, p.get("rules", &judged))
	seen := 0
	for _, group := range judged.Groups {
		for _, rule := range group.Rules {
			seen++
			assert.Equal(p.T, "ok", rule.Health, "%s: %s", rule.Name, rule.LastError)
			for _, metric := range selector.FindAllString(rule.Query, -1) {
				if !strings.HasPrefix(metric, "ovn_central_finding{") { // most codes have none
					assert.NotZero(p.T, p.query(metric), "%s: %s", rule.Name, metric)
				}
			}
		}
	}
	assert.Greater(p.T, seen, 50)
}

// filters matches the line filters of a LogQL expression.
var filters = regexp.MustCompile(`\|([=~]) ("(?:[^"\\]|\\.)*")`)

// logs checks the alerts about logs: no error while all is well, and a line for each refused client.
func (p *prometheus) logs(u *lab.Unit) {
	p.T.Helper()
	patterns := map[string]*regexp.Regexp{}
	for _, rule := range content.LogAlertRules().Groups[0].Rules {
		found := filters.FindStringSubmatch(rule.Expr)
		require.NotNil(p.T, found, rule.Expr)
		pattern, err := strconv.Unquote(found[2])
		require.NoError(p.T, err)
		if found[1] == "=" {
			pattern = regexp.QuoteMeta(pattern)
		}
		patterns[rule.Alert] = regexp.MustCompile(pattern)
	}
	logged := func(alert string) []byte {
		var all []byte
		logs, err := filepath.Glob(filepath.Join(u.LogDir(), "*.log"))
		require.NoError(p.T, err)
		require.NotEmpty(p.T, logs)
		for _, log := range logs {
			text, err := os.ReadFile(log)
			require.NoError(p.T, err)
			all = append(all, text...)
		}
		return patterns[alert].Find(all)
	}
	assert.Empty(p.T, string(logged("OVNServerErrors")))
	assert.Empty(p.T, string(logged("OVNClientsRefused")))
	certificate, key := vault.New("other").Issue("stranger", nil, time.Now().Add(-time.Minute), time.Now().Add(time.Hour))
	require.NoError(p.T, os.WriteFile(p.path("certificate"), []byte(certificate), 0o600))
	require.NoError(p.T, os.WriteFile(p.path("key"), []byte(key), 0o600))
	_, err := p.Exec(p.T.Context(), "ovn-sbctl", "--timeout=2", "--private-key="+p.path("key"),
		"--certificate="+p.path("certificate"),
		"--ca-cert="+p.ClientCredentials().CA,
		"--db=ssl:"+u.Address()+":6642", "--no-leader-only", "show")
	require.Error(p.T, err)
	assert.NotEmpty(p.T, string(logged("OVNClientsRefused")))
	assert.Regexp(p.T, patterns["OVNServerErrors"], "2026-11-28T17:00:00.000Z|00012|raft|ERR|x")
}
