package juju_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// everyTool calls each tool once.
var everyTool = map[string]func(context.Context, *juju.Tools) error{
	"relation-ids": func(ctx context.Context, t *juju.Tools) error { _, err := t.RelationIDs(ctx, "ovsdb"); return err },
	"relation-list": func(ctx context.Context, t *juju.Tools) error {
		_,
			err := t.RelationUnits(ctx, "ovsdb:1")
		return err
	},
	"relation-get": func(ctx context.Context, t *juju.Tools) error {
		_, err := t.RelationGet(ctx, "ovsdb:1", "a/0")
		return err
	},
	"relation-get app": func(ctx context.Context, t *juju.Tools) error {
		_, err := t.RelationGetApp(ctx, "ovsdb:1", "a")
		return err
	},
	"relation-set": func(ctx context.Context, t *juju.Tools) error {
		return t.RelationSet(ctx, "ovsdb:1", map[string]string{"k": "v"})
	},
	"relation-set app": func(ctx context.Context, t *juju.Tools) error {
		return t.RelationSetApp(ctx, "ovsdb:1", map[string]string{"k": "v"})
	},
	"config-get": func(ctx context.Context, t *juju.Tools) error { _, err := t.Config(ctx); return err },
	"network-get": func(ctx context.Context, t *juju.Tools) error {
		_, err := t.NetworkGet(ctx, "ovsdb", "ovsdb:1")
		return err
	},
	"leader-get": func(ctx context.Context, t *juju.Tools) error { _, err := t.LeaderGet(ctx); return err },
	"leader-set": func(ctx context.Context, t *juju.Tools) error {
		return t.LeaderSet(ctx,
			map[string]string{"k": "v"})
	},
	"open-port":  func(ctx context.Context, t *juju.Tools) error { return t.OpenPorts(ctx, 6641) },
	"close-port": func(ctx context.Context, t *juju.Tools) error { return t.ClosePorts(ctx, 6641) },
	"application-version-set": func(ctx context.Context, t *juju.Tools) error {
		return t.ApplicationVersionSet(ctx,
			"23.03")
	},
	"is-leader":  func(ctx context.Context, t *juju.Tools) error { _, err := t.IsLeader(ctx); return err },
	"goal-state": func(ctx context.Context, t *juju.Tools) error { _, err := t.GoalState(ctx); return err },
	"status-set": func(ctx context.Context, t *juju.Tools) error { return t.StatusSet(ctx, juju.Active, "") },
	"action-get": func(ctx context.Context, t *juju.Tools) error {
		_,
			err := t.ActionParams(ctx)
		return err
	},
	"action-set": func(ctx context.Context, t *juju.Tools) error {
		return t.ActionSet(ctx,
			map[string]string{"k": "v"})
	},
	"action-fail": func(ctx context.Context, t *juju.Tools) error { return t.ActionFail(ctx, "m") },
	"action-log":  func(ctx context.Context, t *juju.Tools) error { return t.ActionLog(ctx, "m") },
	"juju-log":    func(ctx context.Context, t *juju.Tools) error { return t.Log(ctx, 0, "m") },
}

// runner is a function as a run.Runner.
type runner func(context.Context, run.Command) ([]byte, error)

func (r runner) Run(ctx context.Context, c run.Command) ([]byte, error) { return r(ctx, c) }

// answers is a tool that writes stdout.
func answers(stdout string) runner {
	return func(context.Context, run.Command) ([]byte, error) { return []byte(stdout), nil }
}

// fails is a tool that fails.
func fails(code int, stderr string) runner {
	return func(_ context.Context, c run.Command) ([]byte, error) {
		return nil, &run.Error{Command: c, ExitCode: code, Stderr: stderr, Err: errors.New("exit status")}
	}
}

func TestTools_deadline(t *testing.T) {
	t.Parallel()
	for name, call := range everyTool {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called := false
			_ = call(context.Background(), juju.New(runner(func(ctx context.Context, _ run.Command) ([]byte, error) {
				called = true
				deadline, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.WithinDuration(t, time.Now().Add(juju.Timeout), deadline, 10*time.Second)
				return nil, nil
			})))
			assert.True(t, called)
		})
	}
}

func TestTools_missing_is_ErrNoTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, call := range everyTool {
		t.Run(name, func(t *testing.T) {
			err := call(t.Context(), juju.New(run.Exec{}))
			require.ErrorIs(t, err, juju.ErrNoTool)
			assert.ErrorContains(t, err, "cannot ")
			assert.ErrorContains(t, err, ": program not found")
		})
	}
}

// The texts are those of Juju's hook tools.
func TestTools_messages_become_typed_errors(t *testing.T) {
	t.Parallel()
	kinds := []error{juju.ErrNotFound, juju.ErrNotAnAction, juju.ErrNoTool, juju.ErrTooLarge, juju.ErrNotLeader}
	tests := map[string]struct {
		tool   string
		code   int
		stderr string
		kind   error
	}{
		"unknown unit": {
			"relation-get", 1,
			`ERROR cannot read settings for unit "a/9" in relation "a:ovsdb-peer": unit "a/9": settings not found` + "\n",
			juju.ErrNotFound,
		},
		"unknown relation": {
			"relation-get", 2,
			`ERROR invalid value "ovsdb:1" for option -r: relation not found` + "\n", juju.ErrNotFound,
		},
		"units of an unknown relation": {
			"relation-list", 2,
			`ERROR invalid value "ovsdb:1" for option -r: relation not found` + "\n", juju.ErrNotFound,
		},
		"relation that went meanwhile": {"relation-set", 1, "ERROR relation not found\n", juju.ErrNotFound},
		"relation that the model lost": {"relation-get", 1, "ERROR permission denied\n", juju.ErrNotFound},
		"application outside":          {"relation-get app", 1, "ERROR permission denied\n", juju.ErrNotFound},
		"socket that can't be opened": {
			"relation-get", 1,
			"ERROR dial unix /var/lib/juju/agent.socket: connect: permission denied\n", nil,
		},
		"permission of something else":    {"goal-state", 1, "ERROR permission denied\n", nil},
		"application data, not as leader": {"relation-set app", 1, "ERROR cannot write relation settings\n", nil},
		"parameters in a hook":            {"action-get", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"results in a hook":               {"action-set", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"failure in a hook":               {"action-fail", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"progress in a hook":              {"action-log", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"leadership unknown":              {"is-leader", 1, "ERROR leadership status unknown: connection lost\n", nil},
		"network of an unknown relation": {
			"network-get", 2,
			`ERROR invalid value "ovsdb:1" for option -r: relation not found` + "\n", juju.ErrNotFound,
		},
		"unknown endpoint": {"network-get", 1, `ERROR binding name "ovsdb" not defined by the unit's charm` +
			"\n", nil},
		"leader settings, not as leader": {
			"leader-set", 1,
			"ERROR cannot write leadership settings: cannot write settings: not the leader\n", juju.ErrNotLeader,
		},
		"leadership that was just lost": {
			"leader-set", 1,
			`ERROR cannot write leadership settings: cannot write settings: prerequisites failed: "a/0" is not leader of "a"` +
				"\n", juju.ErrNotLeader,
		},
		"leader settings, no controller": {
			"leader-set", 1,
			"ERROR cannot write leadership settings: cannot write settings: connection is shut down\n", nil,
		},
		"no words": {"relation-get", 1, "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := everyTool[tc.tool](t.Context(), juju.New(fails(tc.code, tc.stderr)))
			failed := (*run.Error)(nil)
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, tc.code, failed.ExitCode)
			for _, kind := range kinds {
				if kind == tc.kind { //nolint:errorlint // which of the listed ones is meant, not what err is
					assert.ErrorIs(t, err, kind)
				} else {
					assert.NotErrorIs(t, err, kind)
				}
			}
		})
	}
}

func TestTools_error_has_call_and_cause(t *testing.T) {
	t.Parallel()
	for name, call := range everyTool {
		tool, _, _ := strings.Cut(name, " ")
		err := call(t.Context(), juju.New(fails(1, "ERROR no\n")))
		assert.Regexp(t, "^cannot .*: "+tool+": ERROR no$", err.Error())
	}
}

func TestTools_long_command_line_is_ErrTooLarge(t *testing.T) {
	t.Parallel()
	err := everyTool["action-set"](t.Context(), juju.New(runner(func(_ context.Context, c run.Command) ([]byte, error) {
		return nil, &run.Error{Command: c, ExitCode: -1, Err: syscall.E2BIG}
	})))
	assert.ErrorIs(t, err, juju.ErrTooLarge)
}

func TestTools_undocumented_answer_is_error(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"relation-ids", ""},
		{"is-leader", "True"},
		{"is-leader", `"true"`},
		{"relation-get", `{"sb-identity":3974}`},
		{"relation-list", `{}`},
		{"goal-state", `{"units":{"a/0":`},
		{"config-get", `["source"]`},
		{"leader-get", `{"ready":1}`},
		{"network-get", `"10.0.0.1"`},
		{"action-get", `[1]`},
	} {
		err := everyTool[c[0]](t.Context(), juju.New(answers(c[1])))
		assert.ErrorContains(t, err, c[0]+": the answer is not what Juju documents: ", c[1])
	}
}

// tools returns Tools that expect these calls.
func tools(t *testing.T, calls ...runtest.Call) *juju.Tools {
	t.Helper()
	return juju.New(runtest.New(t, calls...))
}

// recorder records commands; all succeed without output.
type recorder struct {
	calls []run.Command
}

func (r *recorder) Run(_ context.Context, c run.Command) ([]byte, error) {
	r.calls = append(r.calls, c)
	return nil, nil
}

func TestConfig_has_options_with_value(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]map[string]any{
		"{}\n": {}, "null\n": nil,
		`{"source":"caracal","timer":4,"enable":false,"key":null,"ovn-source":"","ratio":0.5,"n":12345678901234567}`: {
			"source": "caracal", "timer": json.Number("4"), "enable": false, "ovn-source": "", "ratio": json.Number("0.5"),
			"n": json.Number("12345678901234567"),
		},
	} {
		got, err := tools(t, runtest.Expect("config-get", "--format=json", "--all").Writes(stdout)).Config(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestPorts_one_call_each(t *testing.T) {
	t.Parallel()
	script := tools(t,
		runtest.Expect("open-port", "6641/tcp"), runtest.Expect("open-port", "16642/tcp"),
		runtest.Expect("close-port", "6642/tcp"))
	require.NoError(t, script.OpenPorts(t.Context(), 6641, 16642))
	require.NoError(t, script.ClosePorts(t.Context(), 6642))
	require.NoError(t, script.OpenPorts(t.Context()), "nothing to open")
}

func TestPorts_stop_at_refusal(t *testing.T) {
	t.Parallel()
	script := tools(t, runtest.Expect("open-port", "0/tcp").Fails(2, "ERROR port must be between 1 and 65535, got 0\n"))
	require.EqualError(t, script.OpenPorts(t.Context(), 0, 6641),
		"cannot open TCP port 0: open-port: ERROR port must be between 1 and 65535, got 0")
}

// A message is one argument and no flag; in a status it is one line.
func TestTools_message_is_one_argument(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	script := tools(t,
		runtest.Expect("status-set", "--", "active", ""),
		runtest.Expect("status-set", "--", "blocked", "--application"),
		runtest.Expect("status-set", "--", "waiting", "first, second third"),
		runtest.Expect("status-set", "--", "maintenance", "a b [1mc d"),
		runtest.Expect("action-fail", "--", "-x\ny"),
		runtest.Expect("action-log", "--", "* is 1 of 2"),
		runtest.Expect("application-version-set", "--", "-x 1:2.0~rc1+$(id)"),
		runtest.Expect("juju-log", "-l", "INFO", "--", "-x k=$(id)"),
	)
	require.NoError(t, script.StatusSet(ctx, juju.Active, ""))
	require.NoError(t, script.StatusSet(ctx, juju.Blocked, "--application"))
	require.NoError(t, script.StatusSet(ctx, juju.Waiting, " first,\r\n\n  second\tthird\n"))
	require.NoError(t, script.StatusSet(ctx, juju.Maintenance, "a\x00b\x1b[1mc\u0085d"))
	require.NoError(t, script.ActionFail(ctx, "-x\ny"))
	require.NoError(t, script.ActionLog(ctx, "* is 1 of 2"))
	require.NoError(t, script.ApplicationVersionSet(ctx, "-x\n1:2.0~rc1+$(id)\n"))
	slog.New(juju.NewLogHandler(script, io.Discard, nil)).InfoContext(ctx, "-x", "k", "$(id)")
}

// Juju shows of an offer only its URL.
func TestGoalState(t *testing.T) {
	t.Parallel()
	state, err := juju.New(answers(`{"units":{"ovn-central/0":{"status":"active","since":"2026-01-01 00:00:00Z"},` +
		`"ovn-central/1":{"status":"dying"}},"relations":{"certificates":{"vault":{"status":"joined"}},"ovsdb":{` +
		`"ovn-chassis":{"status":"joined"},"ovn-chassis/9":{"status":"allocating"},"neutron/0":{"status":"dying"}},` +
		`"ovsdb-cms":{"admin/openstack.neutron-api":{"status":"joined"}}}}`)).GoalState(t.Context())
	require.NoError(t, err)
	assert.Equal(t, juju.GoalState{
		Units: map[string]juju.UnitGoal{"ovn-central/0": {Status: "active"}, "ovn-central/1": {Status: "dying"}},
		Relations: map[string]map[string]juju.UnitGoal{
			"certificates": {"vault": {Status: "joined"}},
			"ovsdb": {
				"ovn-chassis": {Status: "joined"}, "ovn-chassis/9": {Status: "allocating"},
				"neutron/0": {Status: "dying"},
			},
			"ovsdb-cms": {"admin/openstack.neutron-api": {Status: "joined"}},
		},
	}, state)
	assert.True(t, state.Dying("ovn-central/1"))
	for _, other := range []string{"ovn-central/0", "ovn-central/2", "neutron/0"} {
		assert.False(t, state.Dying(other), other)
	}
	assert.False(t, juju.GoalState{}.Dying("ovn-central/0"))
}
