package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// agent simulates Juju and a machine on which nb is served by the only member and sb is missing. It records its
// calls.
type agent struct {
	params map[string]any
	// broken is the tool that fails.
	broken string
	// config has the options in the form of config-get; if it is empty, config-get fails.
	config  string
	status  string
	results map[string]string
	failed  string
	other   []string
}

// Run implements run.Runner.
func (a *agent) Run(ctx context.Context, c run.Command) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	refuse := func(code int, text string) ([]byte, error) {
		return nil, &run.Error{Command: c, ExitCode: code, Stderr: text, Err: errors.New("exit status")}
	}
	switch {
	case c.Name == a.broken:
		return refuse(1, "ERROR connection is shut down\n")
	case c.Name == "action-get":
		return json.Marshal(a.params)
	case c.Name == "action-set":
		a.results = map[string]string{}
		for _, arg := range c.Args {
			key, value, _ := strings.Cut(arg, "=")
			a.results[key] = value
		}
	case c.Name == "action-fail":
		a.failed = c.Args[len(c.Args)-1]
	case c.Name == "goal-state":
		return []byte(`{"units":{"ovn-central/0":{"status":"active"}}}`), nil
	case c.Name == "config-get" && a.config != "":
		return []byte(a.config), nil
	case c.Name == "config-get": // tests with real servers cover the unit's own state
		return refuse(1, "ERROR permission denied\n")
	case c.Name == "relation-ids":
		return []byte(`[]`), nil
	case c.Name == "ovs-appctl" && c.Args[len(c.Args)-1] == string(ovndb.NB):
		return []byte(a.status), nil
	case c.Name == "ovs-appctl":
		return refuse(1, `ovs-appctl: cannot connect to "ovnsb_db.ctl" (No such file or directory)`)
	case c.Name == "ovsdb-client":
		return []byte("7.0.0\n"), nil
	case c.Name == "systemctl" && c.Args[0] == "show":
		return runtest.Stopped(), nil
	default:
		a.other = append(a.other, c.String())
	}
	return nil, nil
}

func unit(t *testing.T, a *agent) Unit {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("..", "raft", "testdata", "cluster-status", "nb-single-server.txt"))
	require.NoError(t, err)
	a.status = string(status)
	paths := ovndb.Paths{Run: t.TempDir(), DB: t.TempDir(), Data: t.TempDir()}
	for _, d := range ovndb.Databases() {
		require.NoError(t, os.WriteFile(paths.Schema(d), []byte(`{"name":"`+string(d)+`","version":"7.0.0"}`), 0o600))
		require.NoError(t, os.WriteFile(paths.Control(d), nil, 0o600))
	}
	served, err := raft.Parse(a.status)
	require.NoError(t, err)
	file := observetest.FileUpTo(served.Log.End-1, ovndb.NB, served.Server, served.Cluster, nil)
	require.NoError(t, os.WriteFile(paths.File(ovndb.NB), file, 0o600))
	env := juju.Env{Unit: "ovn-central/0", App: "ovn-central"}
	log := slog.New(slog.DiscardHandler)
	machine := &observe.Machine{
		Env: env, Control: ovsctl.Control{Runner: a, Paths: paths}, Files: ovsctl.Files{Runner: a, Paths: paths},
		Services: systemd.Services{Runner: a}, Dialer: new(ovsdb.Dialer), Now: time.Now, Log: log,
	}
	observer := &observe.Observer{Machine: machine}
	service := &membership.Changer{Machine: machine, Observer: observer, Progress: func(context.Context, string) {}}
	tools := juju.New(a)
	return Unit{Reconciler: &reconcile.Reconciler{
		Observer: observer, Tools: tools, Members: service,
	}}
}

// findings returns the findings of cluster-status in the format json.
func findings(t *testing.T, found results) (all []present.Document) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(found["findings"]), &all))
	return all
}

func TestClusterStatus_results(t *testing.T) {
	for _, format := range []string{"", "text", "yaml", "json"} {
		a := &agent{params: map[string]any{"format": format}}
		require.NoError(t, Run(t.Context(), unit(t, a), "cluster-status"))
		for _, fact := range []string{"ovn-central/0", "sb: ", "cluster-status format=text"} {
			assert.Equal(t, format == "yaml" || format == "json", strings.Contains(a.failed, fact),
				"for programs the action fails: %s", a.failed)
		}
		keys := []string{"at-a-glance", "format", "ovnnb", "ovnsb", "servers"}
		if format == "yaml" || format == "json" {
			keys = []string{
				"at-a-glance", "clients", "fault-tolerance", "findings", "format", "northd", "ovnnb", "ovnsb",
				"servers",
			}
			assert.Contains(t, a.results["findings"], finding.FewMembers)
			assert.Contains(t, a.results["fault-tolerance"], "nb: 0 ")
		}
		assert.Equal(t, keys, slices.Sorted(maps.Keys(a.results)), format)
		assert.Contains(t, a.results["ovnnb"], "OVN_Northbound", "one database is reported in full")
		assert.Contains(
			t, a.results["ovnsb"], observe.ServerState{Condition: ovndb.Absent}.Text(), "the other with the reason",
		)
		assert.Contains(t, a.results["servers"], "0.3 KiB")
		assert.Empty(t, a.other, "nothing else is run")
	}
}

// Programs for the Python charm give no parameter: the option is for them. A parameter that a person types overrides
// it.
func TestClusterStatus_format_parameter_overrides_option(t *testing.T) {
	for _, c := range []struct{ param, option, says, has string }{
		{"", "text", "text (option cluster-status-format)", "\nName: OVN_Northbound\n"},
		{"", "yaml", "yaml (option cluster-status-format)", "\nunit_map:"},
		{"text", "yaml", "text", "\nName: OVN_Northbound\n"},
		{"json", "text", "json", `"unit_map":`},
	} {
		a := &agent{params: map[string]any{"format": c.param}, config: `{"cluster-status-format":"` + c.option + `"}`}
		require.NoError(t, Run(t.Context(), unit(t, a), "cluster-status"))
		assert.Equal(t, c.says, a.results["format"])
		assert.Contains(t, a.results["ovnnb"], c.has)
	}
}

// answeringAgent serves a simulated agent of the unit, and returns a configuration that names its socket.
func answeringAgent(t *testing.T, handler http.Handler) (config string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "agent.sock")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	require.NoError(t, err)
	served := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}} //nolint:gosec // of a test
	served.Start()
	t.Cleanup(served.Close)
	return fmt.Sprintf(`{"unit": "ovn-central/0", "socket": %q}`, socket)
}

// The agent is simulated, since the machines of a test share one clock.
func TestClusterStatus_has_lease_orphans_and_clocks(t *testing.T) {
	u := unit(t, new(agent))
	u.Control.Paths.Etc = t.TempDir()
	config := answeringAgent(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, report.Path, r.URL.Path)
		assert.NoError(t, json.NewEncoder(w).Encode(report.Status{
			Acting: "ovn-central/1", Term: 3, HeldSeconds: 60,
			Gateways: report.GatewayStatus{Orphans: []finding.Document{{Message: "c4: Chassis without Chassis_Private"}}},
			Peers: []report.PeerStatus{
				{Unit: "ovn-central/1", ClockAheadSeconds: -7200},
				{Unit: "ovn-central/2", ClockAheadSeconds: 20},
			},
		}))
	}))
	require.NoError(t, os.WriteFile(u.Control.Paths.AgentConfig(), []byte(config), 0o600))
	found, err := clusterStatus(t.Context(), u, newParams(map[string]any{"format": "json"}))
	require.ErrorContains(t, err, "sb: ", "only for the database that is not served")
	var wrong []present.Document
	for _, f := range findings(t, found) {
		if f.Code == string(finding.ClockWrong) {
			wrong = append(wrong, f)
		}
	}
	require.Len(t, wrong, 1, "20 seconds are allowed")
	assert.Equal(t, "ovn-central/1", wrong[0].Subject)
	assert.Equal(t, []string{"juju ssh ovn-central/1 timedatectl"}, wrong[0].Remedies[0].Commands)
	assert.NoError(t, findingtest.Typed(wrong[0].Remedies[0].Commands[0]))
	assert.Equal(t, report.Status{Acting: "ovn-central/1", Term: 3, HeldSeconds: 60}.Lease()+"\n", found["lease"])
	assert.Equal(t, "c4: Chassis without Chassis_Private\n", found["orphans"])
}

// If one result is longer than Juju accepts, Juju sets none of the results.
func TestAgentStatus_long_lists_are_shortened(t *testing.T) {
	const many = 1500
	var g report.GatewayStatus
	for i := range many {
		g.Left = append(g.Left, fmt.Sprintf("lrp-0f3c2a8e-5d1b-4c77-9a40-%012d", i))
		g.Orphans = append(g.Orphans,
			finding.Document{Message: fmt.Sprintf("gateway-%d.maas: Chassis without %s", i, strings.Repeat("x", 70))})
	}
	g.Advice, g.Planned = slices.Repeat([]report.Advice{{Gateway: "lrp-1", Reason: strings.Repeat("x", 900)}}, 200), 200
	g.Last = &report.Outcome{Reasons: slices.Repeat([]string{strings.Repeat("r", 50)}, many)}
	config := answeringAgent(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		assert.NoError(t, json.NewEncoder(w).Encode(report.Status{Acting: "ovn-central/1", Gateways: g}))
	}))
	for _, action := range []string{"agent-status", "cluster-status"} {
		for _, format := range []string{"text", "yaml", "json"} {
			a := &agent{params: map[string]any{"format": format}}
			u := unit(t, a)
			u.Control.Paths.Etc = t.TempDir()
			require.NoError(t, os.WriteFile(u.Control.Paths.AgentConfig(), []byte(config), 0o600))
			require.NoError(t, Run(t.Context(), u, action))
			if action == "cluster-status" && format != "text" {
				assert.Contains(t, a.failed, "sb: ", "only for the database that is not served")
			} else {
				assert.Empty(t, a.failed, "%s in %s", action, format)
			}
			if action == "agent-status" {
				assert.Contains(t, a.results["agent"], "ovn-central/1", format)
				assert.Regexp(t, `and 1\d\d\d more`, a.results["agent"], format)
				continue
			}
			assert.Contains(t, a.results["ovnnb"], "OVN_Northbound", format)
			assert.Contains(t, a.results["orphans"], "gateway-0.maas: Chassis without", format)
			assert.Regexp(t, `… and \d+ more\n$`, a.results["orphans"], format)
		}
	}
}

func TestClusterStatus_without_Juju(t *testing.T) {
	for _, broken := range []string{"goal-state", "relation-ids"} {
		a := &agent{broken: broken, params: map[string]any{"format": "json"}}
		require.NoError(t, Run(t.Context(), unit(t, a), "cluster-status"))
		assert.Contains(t, a.results["ovnnb"], "OVN_Northbound")
		all := findings(t, a.results)
		require.NotEmpty(t, all)
		assert.Equal(t, string(finding.StateUnknown), all[0].Code)
		assert.Contains(t, all[0].Message, "connection is shut down")
		for _, f := range all {
			assert.Empty(t, f.Remedies, f.Code)
		}
	}
}

// Juju drops the message of an action that ends with an exit code other than 0. A program reads the reasons of any
// refusal in the same form.
func TestRun_refusal(t *testing.T) {
	for name, test := range map[string]struct {
		action, key string
		value       any
		confirmed   any
		code        finding.Code
	}{
		"nothing named":       {"kick", "", nil, true, finding.ParameterInvalid},
		"not confirmed":       {"kick", "nb-identity", "abcd", false, finding.UnknownMember},
		"confirmed by a text": {"kick", "nb-identity", "abcd", "true", finding.ParameterInvalid},
		"no member":           {"kick", "nb-identity", "abcd", true, finding.UnknownMember},
		"garbage":             {"cluster-kick", "nb-server-id", "zzzz", true, finding.MemberIDInvalid},
		"database not here":   {"cluster-kick", "sb-server-id", "abcd", true, finding.NotAMember},
		"bad flag":            {"drain", "dry-run", "yes", nil, finding.ParameterInvalid},
		"bad number":          {"gateway-status", "wait", json.Number("-1"), nil, finding.ParameterInvalid},
		"no backup":           {"restore", "from", "20261123T100000Z", nil, finding.ParameterInvalid},
		"again by a word":     {"restore", "again", "true", nil, finding.ParameterInvalid},
		"bad path":            {"backups", "path", "backups", nil, finding.ParameterInvalid},
		"no path":             {"backups", "path", "/nope", nil, finding.ParameterInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			a := &agent{params: map[string]any{"format": "json", test.key: test.value, "i-really-mean-it": test.confirmed}}
			u := unit(t, a)
			u.Backup = &backup.Service{Files: u.Files}
			u.Backup.Files.Paths.Backups = t.TempDir()
			require.NoError(t, Run(t.Context(), u, test.action))
			assert.NotEmpty(t, a.failed)
			assert.Empty(t, a.other, "nothing is done")
			all := findings(t, a.results)
			require.Len(t, all, 1)
			assert.Equal(t, string(test.code), all[0].Code)
		})
	}
	for _, format := range []any{"xml", true} {
		a := &agent{params: map[string]any{"format": format}}
		require.NoError(t, Run(t.Context(), unit(t, a), "cluster-status"))
		assert.Contains(t, a.failed, "parameter format ")
	}
}

// R7: each named database has a result, even after a failure.
func TestR7_kick_reports_each_database(t *testing.T) {
	a := &agent{params: map[string]any{"nb-identity": "abcd", "sb-identity": "abcd", "dry-run": true}}
	require.NoError(t, Run(t.Context(), unit(t, a), "kick"))
	assert.Equal(t, "refused\n", a.results["ovnnb"])
	assert.Equal(t, "refused\n", a.results["ovnsb"])
	assert.Contains(t, a.failed, "nb: ")
	assert.Contains(t, a.failed, "sb: ")
}

func TestRun_unknown_action(t *testing.T) {
	a := &agent{}
	require.ErrorIs(t, Run(t.Context(), unit(t, a), "kcik"), ErrUnknown)
	assert.Empty(t, a.failed)
}

func TestRun_Juju_unreachable(t *testing.T) {
	a := &agent{broken: "action-get"}
	require.ErrorContains(t, Run(t.Context(), unit(t, a), "cluster-status"), "action-get")
	a = &agent{broken: "action-fail"}
	require.ErrorContains(t, Run(t.Context(), unit(t, a), "kick"), "action-fail")
}

func TestRun_timeout_and_interruption(t *testing.T) {
	handlers["wait"] = func(ctx context.Context, _ Unit, _ *params) (results, error) {
		<-ctx.Done()
		return results{"so-far": "100"}, context.Cause(ctx)
	}
	t.Cleanup(func() { delete(handlers, "wait") })
	for says, life := range map[string]time.Duration{
		timeout("wait").String():         time.Hour,
		context.DeadlineExceeded.Error(): time.Minute,
	} {
		a := &agent{}
		u := unit(t, a)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), life)
			defer cancel()
			require.NoError(t, Run(ctx, u, "wait"))
		})
		assert.Contains(t, a.failed, says)
		assert.Equal(t, map[string]string{"so-far": "100"}, a.results)
	}
}

func TestRun_results_cannot_be_set(t *testing.T) {
	a := &agent{broken: "action-set"}
	require.NoError(t, Run(t.Context(), unit(t, a), "cluster-status"))
	assert.Contains(t, a.failed, "action-set")
}

func TestShownSources_hides_password(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "distro", shownSources("distro", "distro"))
	assert.Equal(t, "cloud:jammy-caracal, ovn-source cloud:jammy-ovn-24.03",
		shownSources("cloud:jammy-caracal", "cloud:jammy-ovn-24.03"))
	assert.NotContains(t, shownSources("deb https://me:secret@host/ jammy main", ""), "secret")
}
