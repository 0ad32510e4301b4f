package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// programs plays Juju's tools and snap, by the line that is typed; what is not there
// fails. It keeps what was published and how often each program ran.
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
		return nil, &run.Error{Command: c, ExitCode: 1, Stderr: "error: not played: " + line, Err: errors.New("exit status 1")}
	}
	return []byte(answer), nil
}

// times says how often a line that begins so was run.
func (p *programs) times(prefix string) int {
	return len(slices.DeleteFunc(slices.Clone(p.ran), func(line string) bool { return !strings.HasPrefix(line, prefix) }))
}

func (p *programs) add(answers map[string]string) { maps.Copy(p.answers, answers) }

var (
	exporterThere = map[string]string{
		"snap list prometheus-ovn-exporter":        "Name Version Rev Tracking\nprometheus-ovn-exporter 1.0.7 13 latest/stable\n",
		"snap connections prometheus-ovn-exporter": "Interface Plug Slot Notes\n",
		"snap services prometheus-ovn-exporter":    "Service Startup Current\nprometheus-ovn-exporter.ovn-exporter enabled active\n",
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

type watching struct {
	*programs
	unit *Reconciler
	root string
	r    record
	a    inputs
	g    progress
	o    Result
}

// newWatching is a unit that serves, whose option wants an exporter.
func newWatching(t *testing.T, endpoints ...string) *watching {
	t.Helper()
	p := &programs{t: t, answers: map[string]string{"relation-ids metrics-endpoint": "[]"}, published: map[string]map[string]string{}}
	root := t.TempDir()
	w := &watching{programs: p, root: root, unit: &Reconciler{
		Machine: &observe.Machine{
			Env: juju.Env{Unit: "ovn-central/0", App: "ovn-central", ModelName: "net", ModelUUID: "c2e9f4d5", Version: juju.Version{Major: 2, Minor: 9}},
			Log: slog.New(slog.DiscardHandler),
		},
		Tools:      juju.New(p),
		Paths:      ovndb.Paths{Etc: "/etc/ovn"},
		Monitoring: monitoring.On(p, root),
	}}
	w.g = progress{jujuLeader: true, at: time.Unix(1e9, 0)}
	w.a = inputs{thorough: true, settings: plan.Settings{ExporterChannel: "stable", NagiosContext: "juju"}}
	w.o.Decision.Ready = true
	w.o.Snapshot.Application = observe.Application{Goal: map[string]juju.UnitGoal{}, Remote: map[string]map[string]juju.UnitGoal{}}
	for _, e := range endpoints {
		w.o.Snapshot.Application.Remote[e] = map[string]juju.UnitGoal{"other": {}}
	}
	return w
}

func (w *watching) watch(t *testing.T) {
	t.Helper()
	require.NoError(t, w.unit.configureMonitoring(t.Context(), pass{record: &w.r, inputs: w.a, progress: &w.g, result: w.o}))
}

func TestWatchersAreToldOfTheUnit(t *testing.T) {
	t.Parallel()
	w := newWatching(t, relation.NRPE, relation.COSAgent, relation.Metrics)
	w.add(exporterThere)
	w.add(related)
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "etc/nagios/nrpe.d"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "usr/lib/nagios/plugins"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "usr/lib/nagios/plugins/check_systemd.py"), nil, 0o755))
	w.watch(t)
	assert.Empty(t, w.r.Watch.Problems)
	assert.True(t, w.r.Watch.Installed)
	assert.Equal(t, map[string]string{"prometheus_scrape_unit_address": "10.0.0.7", "prometheus_scrape_unit_name": "ovn-central/0"},
		w.published["relation-set -r metrics-endpoint:4"])
	app := w.published["relation-set -r metrics-endpoint:4 --app"]
	assert.Contains(t, app["scrape_jobs"], "*:9476")
	assert.Contains(t, app["alert_rules"], "juju run-action ovn-central/leader cluster-status --wait", "in the syntax of this Juju")
	assert.NotContains(t, app["alert_rules"], "%%")
	assert.Contains(t, w.published["relation-set -r cos-agent:5"]["config"], "localhost:9476")
	var monitors struct {
		Monitors struct {
			Remote struct {
				NRPE map[string]any `json:"nrpe"`
			} `json:"remote"`
		} `json:"monitors"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.published["relation-set -r nrpe-external-master:6"]["monitors"]), &monitors))
	assert.Equal(t, []string{"check_ovn_certs", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb"},
		slices.Sorted(maps.Keys(monitors.Monitors.Remote.NRPE)))
}

// With an option that can't be used, the agent goes on as it was told before.
func TestAgentIsScrapedWhereItListens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told, want string
		invalid    []string
	}{
		"nothing is told to it yet":   {"", "", nil},
		"a port that it is told next": {"127.0.0.1:17000", "localhost:16401", nil},
		"a port that can't be used":   {"127.0.0.1:17000", "localhost:17000", []string{plan.OptionAgentPort}},
		"another option that can't":   {"127.0.0.1:17000", "localhost:17000", []string{plan.OptionLeaseTTL}},
		"an option of something else": {"127.0.0.1:17000", "localhost:16401", []string{plan.OptionSource}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t, relation.COSAgent)
			w.add(related)
			w.add(exporterThere)
			w.unit.Paths.Etc = t.TempDir()
			w.a.settings.Agent.Port = 16401
			if c.told != "" {
				require.NoError(t, os.WriteFile(w.unit.Paths.AgentConfig(), config.Config{Listen: c.told}.Render(), 0o600))
			}
			w.a.invalid = map[string]string{}
			for _, option := range c.invalid {
				w.a.invalid[option] = "no"
			}
			w.watch(t)
			assert.Empty(t, w.r.Watch.Problems)
			var published struct {
				Jobs []struct {
					Static []struct{ Targets []string } `json:"static_configs"`
				} `json:"metrics_scrape_jobs"`
			}
			require.NoError(t, json.Unmarshal([]byte(w.published["relation-set -r cos-agent:5"]["config"]), &published))
			var targets []string
			for _, job := range published.Jobs {
				targets = append(targets, job.Static[0].Targets...)
			}
			assert.Equal(t, strings.Fields("localhost:9476 "+c.want), targets)
		})
	}
}

func TestOnlyTheLeaderWritesForTheApplication(t *testing.T) {
	t.Parallel()
	w := newWatching(t, relation.Metrics)
	w.add(exporterThere)
	w.add(related)
	w.g.jujuLeader = false
	w.watch(t)
	assert.Contains(t, w.published, "relation-set -r metrics-endpoint:4")
	assert.NotContains(t, w.published, "relation-set -r metrics-endpoint:4 --app")
}

func TestWithoutWatchersOneToolIsAsked(t *testing.T) {
	t.Parallel()
	w := newWatching(t)
	w.add(exporterThere)
	w.watch(t)
	assert.Equal(t, 1, w.times("relation-"))
	assert.Empty(t, w.published)
}

func TestAUnitWithoutAnExporterHasNoAddressToScrape(t *testing.T) {
	t.Parallel()
	w := newWatching(t, relation.Metrics, relation.COSAgent)
	w.add(related)
	w.add(map[string]string{"snap list prometheus-ovn-exporter": "Name Version Rev Tracking\nprometheus-ovn-exporter 1 2 latest/stable\n", "snap remove prometheus-ovn-exporter": ""})
	w.a.settings.ExporterChannel = ""
	w.r.Watch.Installed = true
	w.watch(t)
	assert.False(t, w.r.Watch.Installed)
	assert.Empty(t, w.published["relation-set -r metrics-endpoint:4"]["prometheus_scrape_unit_address"])
	assert.Equal(t, "[]", w.published["relation-set -r metrics-endpoint:4 --app"]["scrape_jobs"])
	assert.Equal(t, map[string]string{"config": ""}, w.published["relation-set -r cos-agent:5"])
}

func TestAStoreThatFailsIsLeftAloneForAnHourAndFailsNoHook(t *testing.T) {
	t.Parallel()
	w := newWatching(t)
	for range 3 {
		w.watch(t)
		w.g.at = w.g.at.Add(time.Minute)
	}
	assert.Equal(t, 1, w.times("snap"))
	require.Len(t, w.r.Watch.Problems, 1)
	assert.Contains(t, w.r.Watch.Problems[0], "not played")

	w.a.settings.ExporterChannel = "edge"
	w.watch(t)
	assert.Equal(t, 2, w.times("snap"), "another channel is another try")

	w.g.at, w.a.thorough = w.g.at.Add(2*time.Hour), false
	w.a.settings.ExporterChannel = "stable"
	w.add(exporterThere)
	w.watch(t)
	assert.True(t, w.r.Watch.Installed)
	assert.Empty(t, w.r.Watch.Problems)
	before := len(w.ran)
	w.watch(t)
	assert.Len(t, w.ran, before, "update-status has nothing to ask then")
}

func TestOptionsThatCannotBeReadChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWatching(t, relation.NRPE)
	w.r.Watch.Installed = true
	w.a.problem, w.a.settings = "option x", plan.Settings{}
	w.watch(t)
	assert.Empty(t, w.ran)
	assert.True(t, w.r.Watch.Installed)
}

func TestTheExporterIsForAUnitThatServesAndStays(t *testing.T) {
	t.Parallel()
	for title, change := range map[string]func(*watching){
		"its databases come first": func(w *watching) { w.o.Decision.Ready = false },
		"it goes":                  func(w *watching) { w.o.state.Dying = true },
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWatching(t)
			change(w)
			w.watch(t)
			assert.Zero(t, w.times("snap"))
		})
	}
}

func TestChecksGoWithTheirRelation(t *testing.T) {
	t.Parallel()
	w := newWatching(t, relation.NRPE)
	w.add(exporterThere)
	w.add(related)
	commands := filepath.Join(w.root, "etc/nagios/nrpe.d")
	require.NoError(t, os.MkdirAll(commands, 0o755))
	w.watch(t)
	assert.FileExists(t, filepath.Join(commands, "check_check_ovn_certs.cfg"))
	assert.Equal(t, []string{monitoring.ErrNoPlugin.Error()}, w.r.Watch.Problems)

	w.o.state.Dying = true // as where the unit's removal breaks the relation
	w.unit.Env.HookName, w.unit.Env.Relation, w.unit.Env.RelationID = "nrpe-external-master-relation-broken", relation.NRPE, "nrpe-external-master:6"
	w.watch(t)
	assert.NoFileExists(t, filepath.Join(commands, "check_check_ovn_certs.cfg"))
	assert.Empty(t, w.r.Watch.Problems)
}

func TestAHookThatIsOutOfTimeSaysSo(t *testing.T) {
	t.Parallel()
	w := newWatching(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.unit.configureMonitoring(ctx, pass{record: &w.r, inputs: w.a, progress: &w.g, result: w.o}), context.Canceled)
}
