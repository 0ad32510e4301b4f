package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
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

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring/nagios"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// programs simulates Juju's tools and snap by their command lines; others fail. It records what was published and which
// programs ran.
type programs struct {
	t         *testing.T
	answers   map[string]string
	published map[string]map[string]string
	ran       []string
}

func (p *programs) Run(_ context.Context, c run.Command) ([]byte, error) {
	line := strings.ReplaceAll(c.String(), " --format=json", "")
	p.ran = append(p.ran, line)
	if c.Name == "relation-set" {
		values := map[string]string{}
		require.NoError(p.t, json.Unmarshal(c.Stdin, &values))
		p.published[strings.TrimSuffix(line, " --file -")] = values
		return nil, nil
	}
	answer, found := p.answers[line]
	if !found {
		return nil, &run.Error{
			Command: c, ExitCode: 1, Stderr: "error: not simulated: " + line,
			Err: errors.New("exit status 1"),
		}
	}
	return []byte(answer), nil
}

// times counts the command lines with this beginning.
func (p *programs) times(prefix string) int {
	return len(slices.DeleteFunc(slices.Clone(p.ran), func(line string) bool { return !strings.HasPrefix(line, prefix) }))
}

func (p *programs) add(answers map[string]string) { maps.Copy(p.answers, answers) }

var (
	exporterThere = map[string]string{
		"snap list prometheus-ovn-exporter": "Name Version Rev Tracking\n" +
			"prometheus-ovn-exporter 1.0.7 13 latest/stable\n",
		"snap connections prometheus-ovn-exporter": "Interface Plug Slot Notes\n",
		"snap services prometheus-ovn-exporter": "Service Startup Current\n" +
			"prometheus-ovn-exporter.ovn-exporter enabled active\n",
	}
	related = map[string]string{
		"relation-ids metrics-endpoint":                      `["metrics-endpoint:4"]`,
		"network-get -r metrics-endpoint:4 metrics-endpoint": `{"bind-addresses": [], "ingress-addresses": ["10.0.0.7"]}`,
		"relation-ids cos-agent":                             `["cos-agent:5"]`,
		"relation-ids nrpe-external-master":                  `["nrpe-external-master:6"]`,
		"relation-list -r nrpe-external-master:6":            `["nrpe/0"]`,
		"relation-get -r nrpe-external-master:6 - nrpe/0":    `{"nagios_hostname": "net-ovn-central-0"}`,
		"systemctl restart nagios-nrpe-server":               "",
	}
)

// monitored is a unit with its monitoring.
type monitored struct {
	*programs
	*Manager
	seen facts.Facts
	root string
}

// newUnit returns a unit that serves, with the exporter enabled by its option.
func newUnit(t *testing.T, endpoints ...string) *monitored {
	t.Helper()
	p := &programs{
		t: t, answers: map[string]string{"relation-ids metrics-endpoint": "[]"},
		published: map[string]map[string]string{},
	}
	root, log := t.TempDir(), slog.New(slog.DiscardHandler)
	state, err := unitstate.Open(filepath.Join(root, "state.json"), log)
	require.NoError(t, err)
	w := &monitored{programs: p, root: root, Manager: &Manager{
		Env: juju.Env{
			Unit: "ovn-central/0", App: "ovn-central", ModelName: "net", ModelUUID: "c2e9f4d5",
			Version: juju.Version{Major: 2, Minor: 9},
		},
		Juju: juju.New(p), Paths: ovndb.Paths{Etc: "/etc/ovn"}, Machine: On(p, root), State: state, Log: log,
	}}
	w.seen.Thorough, w.seen.Decision.Ready = true, true
	w.seen.State = plan.State{Now: time.Unix(1e9, 0), JujuLeader: true}
	w.seen.Known.Settings = plan.Settings{
		ExporterChannel: "stable", NagiosContext: "juju", Agent: plan.AgentSettings{Port: ovndb.DefaultAgentPort},
	}
	w.seen.Application.Goal = map[string]juju.UnitGoal{}
	w.seen.Application.Remote = map[string]map[string]juju.UnitGoal{}
	for _, e := range endpoints {
		w.seen.Application.Remote[e] = map[string]juju.UnitGoal{"other": {}}
	}
	return w
}

// ensure calls Ensure and returns the state that is stored afterwards.
func (w *monitored) ensure(t *testing.T) kept {
	t.Helper()
	found, err := w.Ensure(t.Context(), w.seen)
	require.NoError(t, err)
	assert.Empty(t, found)
	return section.Get(w.State)
}

func TestEnsure_publishes_for_watchers(t *testing.T) {
	t.Parallel()
	w := newUnit(t, relation.NRPE, relation.COSAgent, relation.Metrics)
	w.add(exporterThere)
	w.add(related)
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "etc/nagios/nrpe.d"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "usr/lib/nagios/plugins"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "usr/lib/nagios/plugins/check_systemd.py"), nil, 0o755))
	w.seen.Preview = true
	w.ensure(t)
	assert.Empty(t, w.ran)
	w.seen.Preview = false
	k := w.ensure(t)
	assert.Empty(t, k.Problems)
	assert.True(t, k.Installed)
	assert.Equal(t, "10.0.0.7", w.published["relation-set -r metrics-endpoint:4"]["prometheus_scrape_unit_address"])
	app := w.published["relation-set -r metrics-endpoint:4 --app"]
	assert.Contains(t, app["scrape_jobs"], "*:9476")
	assert.Contains(t, app["alert_rules"], "juju run-action ovn-central/leader cluster-status --wait",
		"in the syntax of this Juju")
	assert.NotContains(t, app["alert_rules"], "%%")
	assert.Contains(t, w.published["relation-set -r cos-agent:5"]["config"], "localhost:9476")
	checks := []string{"check_ovn_certs", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"}
	assert.Equal(t, relation.MonitorsDatabag(checks), w.published["relation-set -r nrpe-external-master:6"])
}

// If an option is invalid, the agent keeps its earlier configuration.
func TestEnsure_agent_is_scraped_where_it_listens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configured, want string
		port             uint16
	}{
		"not_configured_yet":  {"", "localhost:9476", 16401},
		"a_port_that_is_next": {"127.0.0.1:17000", "localhost:16401", 16401},
		"an_invalid_option":   {"127.0.0.1:17000", "localhost:17000", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newUnit(t, relation.COSAgent)
			w.add(related)
			w.add(exporterThere)
			w.Paths.Etc = t.TempDir()
			if w.seen.Known.Settings.Agent.Port = c.port; c.port == 0 {
				w.seen.Known.Invalid = map[string]finding.Args{plan.OptionAgentPort: {Value: "0"}}
			}
			if c.configured != "" {
				require.NoError(t, os.WriteFile(w.Paths.AgentConfig(), config.Config{Listen: c.configured}.Render(), 0o600))
			}
			assert.Empty(t, w.ensure(t).Problems)
			targets := regexp.MustCompile(`"targets":\["([^"]*)"\]`).FindAllStringSubmatch(
				w.published["relation-set -r cos-agent:5"]["config"], -1)
			assert.Equal(t, "localhost:9476", targets[0][1])
			assert.Equal(t, c.want, targets[len(targets)-1][1])
		})
	}
}

func TestEnsure_only_the_leader_writes_for_the_application(t *testing.T) {
	t.Parallel()
	w := newUnit(t, relation.Metrics)
	w.add(exporterThere)
	w.add(related)
	w.seen.State.JujuLeader = false
	w.ensure(t)
	assert.Contains(t, w.published, "relation-set -r metrics-endpoint:4")
	assert.NotContains(t, w.published, "relation-set -r metrics-endpoint:4 --app")
}

func TestEnsure_asks_one_tool_without_watchers(t *testing.T) {
	t.Parallel()
	w := newUnit(t)
	w.add(exporterThere)
	w.ensure(t)
	assert.Equal(t, 1, w.times("relation-"))
	assert.Empty(t, w.published)
}

func TestEnsure_publishes_no_address_without_an_exporter(t *testing.T) {
	t.Parallel()
	w := newUnit(t, relation.Metrics, relation.COSAgent)
	w.add(related)
	w.add(exporterThere)
	w.add(map[string]string{"snap remove " + "prometheus-ovn-exporter": ""})
	w.seen.Known.Settings.ExporterChannel = ""
	require.NoError(t, section.Set(w.State, kept{Installed: true}))
	assert.False(t, w.ensure(t).Installed)
	assert.Empty(t, w.published["relation-set -r metrics-endpoint:4"]["prometheus_scrape_unit_address"])
	assert.Equal(t, "[]", w.published["relation-set -r metrics-endpoint:4 --app"]["scrape_jobs"])
	assert.Equal(t, map[string]string{"config": ""}, w.published["relation-set -r cos-agent:5"])
}

func TestEnsure_failed_store_is_retried_after_an_hour(t *testing.T) {
	t.Parallel()
	w := newUnit(t)
	var k kept
	for range 3 {
		k = w.ensure(t)
		w.seen.State.Now = w.seen.State.Now.Add(time.Minute)
	}
	assert.Equal(t, 1, w.times("snap"))
	require.Len(t, k.Problems, 1)
	assert.Contains(t, k.Problems[0], "not simulated")

	w.seen.Known.Settings.ExporterChannel = "edge"
	w.ensure(t)
	assert.Equal(t, 2, w.times("snap"), "another channel is tried at once")

	w.seen.State.Now, w.seen.Thorough = w.seen.State.Now.Add(2*time.Hour), false
	w.seen.Known.Settings.ExporterChannel = "stable"
	w.add(exporterThere)
	k = w.ensure(t)
	assert.True(t, k.Installed)
	assert.Empty(t, k.Problems)
	before := len(w.ran)
	w.ensure(t)
	assert.Len(t, w.ran, before, "update-status asks nothing")
}

func TestEnsure_changes_nothing_by_unknown_options(t *testing.T) {
	t.Parallel()
	w := newUnit(t, relation.NRPE)
	require.NoError(t, section.Set(w.State, kept{Installed: true}))
	w.seen.Known.Problem, w.seen.Known.Settings.ExporterChannel = finding.Quote("damaged"), ""
	assert.True(t, w.ensure(t).Installed)
	assert.Empty(t, w.ran)
}

func TestEnsure_exporter_is_for_a_unit_that_serves_and_stays(t *testing.T) {
	t.Parallel()
	for title, change := range map[string]func(*monitored){
		"databases_come_first": func(w *monitored) { w.seen.Decision.Ready = false },
		"being_removed":        func(w *monitored) { w.seen.State.Dying = true },
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newUnit(t)
			change(w)
			w.ensure(t)
			assert.Zero(t, w.times("snap"))
		})
	}
}

func TestEnsure_removes_checks_with_their_relation(t *testing.T) {
	t.Parallel()
	w := newUnit(t, relation.NRPE)
	w.add(exporterThere)
	w.add(related)
	commands := filepath.Join(w.root, "etc/nagios/nrpe.d")
	require.NoError(t, os.MkdirAll(commands, 0o755))
	k := w.ensure(t)
	assert.FileExists(t, filepath.Join(commands, "check_check_ovn_certs.cfg"))
	assert.Equal(t, []string{nagios.ErrNoPlugin.Error()}, k.Problems)

	w.seen.State.Dying = true // the removal of the unit breaks the relation
	w.Env.HookName, w.Env.Relation, w.Env.RelationID = "nrpe-external-master-relation-broken", relation.NRPE,
		"nrpe-external-master:6"
	k = w.ensure(t)
	assert.NoFileExists(t, filepath.Join(commands, "check_check_ovn_certs.cfg"))
	assert.Empty(t, k.Problems)
}

func TestEnsure_returns_the_end_of_the_hook(t *testing.T) {
	t.Parallel()
	w := newUnit(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Ensure(ctx, w.seen)
	require.ErrorIs(t, err, context.Canceled)
}
