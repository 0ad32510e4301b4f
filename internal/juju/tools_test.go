package juju_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"relation-ids":  func(ctx context.Context, t *juju.Tools) error { _, err := t.RelationIDs(ctx, "ovsdb"); return err },
	"relation-list": func(ctx context.Context, t *juju.Tools) error { _, err := t.RelationUnits(ctx, "ovsdb:1"); return err },
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
	"leader-get":              func(ctx context.Context, t *juju.Tools) error { _, err := t.LeaderGet(ctx); return err },
	"leader-set":              func(ctx context.Context, t *juju.Tools) error { return t.LeaderSet(ctx, map[string]string{"k": "v"}) },
	"open-port":               func(ctx context.Context, t *juju.Tools) error { return t.OpenPorts(ctx, 6641) },
	"close-port":              func(ctx context.Context, t *juju.Tools) error { return t.ClosePorts(ctx, 6641) },
	"application-version-set": func(ctx context.Context, t *juju.Tools) error { return t.ApplicationVersionSet(ctx, "23.03") },
	"is-leader":               func(ctx context.Context, t *juju.Tools) error { _, err := t.IsLeader(ctx); return err },
	"goal-state":              func(ctx context.Context, t *juju.Tools) error { _, err := t.GoalState(ctx); return err },
	"status-set":              func(ctx context.Context, t *juju.Tools) error { return t.StatusSet(ctx, juju.Active, "") },
	"action-get":              func(ctx context.Context, t *juju.Tools) error { _, err := t.ActionParams(ctx); return err },
	"action-set":              func(ctx context.Context, t *juju.Tools) error { return t.ActionSet(ctx, map[string]string{"k": "v"}) },
	"action-fail":             func(ctx context.Context, t *juju.Tools) error { return t.ActionFail(ctx, "m") },
	"action-log":              func(ctx context.Context, t *juju.Tools) error { return t.ActionLog(ctx, "m") },
	"juju-log":                func(ctx context.Context, t *juju.Tools) error { return t.Log(ctx, 0, "m") },
}

// runner is a function as a run.Runner.
type runner func(context.Context, run.Command) ([]byte, error)

func (r runner) Run(ctx context.Context, c run.Command) ([]byte, error) { return r(ctx, c) }

func TestEveryCallHasADeadline(t *testing.T) {
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

func TestTools_shorter_deadline_of_caller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	hurry, _ := ctx.Deadline()
	_, err := juju.New(runner(func(ctx context.Context, _ run.Command) ([]byte, error) {
		deadline, _ := ctx.Deadline()
		assert.Equal(t, hurry, deadline)
		return []byte("true"), nil
	})).IsLeader(ctx)
	require.NoError(t, err)
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
			`ERROR cannot read settings for unit "a/9" in relation "a:ovsdb-peer": unit "a/9": settings not found` + "\n", juju.ErrNotFound,
		},
		"unknown relation":                {"relation-get", 2, `ERROR invalid value "ovsdb:1" for option -r: relation not found` + "\n", juju.ErrNotFound},
		"units of an unknown relation":    {"relation-list", 2, `ERROR invalid value "ovsdb:1" for option -r: relation not found` + "\n", juju.ErrNotFound},
		"relation that went meanwhile":    {"relation-set", 1, "ERROR relation not found\n", juju.ErrNotFound},
		"relation that the model lost":    {"relation-get", 1, "ERROR permission denied\n", juju.ErrNotFound},
		"application outside":             {"relation-get app", 1, "ERROR permission denied\n", juju.ErrNotFound},
		"socket that can't be opened":     {"relation-get", 1, "ERROR dial unix /var/lib/juju/agent.socket: connect: permission denied\n", nil},
		"permission of something else":    {"goal-state", 1, "ERROR permission denied\n", nil},
		"application data, not as leader": {"relation-set app", 1, "ERROR cannot write relation settings\n", nil},
		"parameters in a hook":            {"action-get", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"results in a hook":               {"action-set", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"failure in a hook":               {"action-fail", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"progress in a hook":              {"action-log", 1, "ERROR not running an action\n", juju.ErrNotAnAction},
		"leadership unknown":              {"is-leader", 1, "ERROR leadership status unknown: connection lost\n", nil},
		"network of an unknown relation":  {"network-get", 2, `ERROR invalid value "ovsdb:1" for option -r: relation not found` + "\n", juju.ErrNotFound},
		"endpoint that there is not":      {"network-get", 1, `ERROR binding name "ovsdb" not defined by the unit's charm` + "\n", nil},
		"leader settings, not as leader":  {"leader-set", 1, "ERROR cannot write leadership settings: cannot write settings: not the leader\n", juju.ErrNotLeader},
		"leadership that was just lost": {
			"leader-set", 1,
			`ERROR cannot write leadership settings: cannot write settings: prerequisites failed: "a/0" is not leader of "a"` + "\n", juju.ErrNotLeader,
		},
		"leader settings, no controller": {"leader-set", 1, "ERROR cannot write leadership settings: cannot write settings: connection is shut down\n", nil},
		"no words":                       {"relation-get", 1, "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := everyTool[tc.tool](t.Context(), juju.New(runner(func(_ context.Context, c run.Command) ([]byte, error) {
				return nil, &run.Error{Command: c, ExitCode: tc.code, Stderr: tc.stderr, Err: errors.New("exit status")}
			})))
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
	tests := map[string]string{
		"relation-ids":            "cannot list relations of ovsdb: relation-ids: ERROR no",
		"relation-list":           "cannot list units in ovsdb:1: relation-list: ERROR no",
		"relation-get":            "cannot read relation data of a/0 in ovsdb:1: relation-get: ERROR no",
		"relation-get app":        "cannot read relation data of application a in ovsdb:1: relation-get: ERROR no",
		"relation-set":            "cannot write this unit's relation data in ovsdb:1: relation-set: ERROR no",
		"relation-set app":        "cannot write the application's relation data in ovsdb:1: relation-set: ERROR no",
		"is-leader":               "cannot ask for leadership: is-leader: ERROR no",
		"goal-state":              "cannot read goal state: goal-state: ERROR no",
		"config-get":              "cannot read the configuration: config-get: ERROR no",
		"network-get":             "cannot read the network of ovsdb: network-get: ERROR no",
		"leader-get":              "cannot read leader settings: leader-get: ERROR no",
		"leader-set":              "cannot write leader settings: leader-set: ERROR no",
		"open-port":               "cannot open TCP port 6641: open-port: ERROR no",
		"close-port":              "cannot close TCP port 6641: close-port: ERROR no",
		"application-version-set": "cannot set the application's version: application-version-set: ERROR no",
		"status-set":              "cannot set status active: status-set: ERROR no",
		"action-get":              "cannot read action parameters: action-get: ERROR no",
		"action-set":              "cannot set action results: action-set: ERROR no",
		"action-fail":             "cannot mark the action as failed (m): action-fail: ERROR no",
		"action-log":              "cannot log to the action: action-log: ERROR no",
		"juju-log":                "cannot write to Juju's log: juju-log: ERROR no",
	}
	require.Len(t, tests, len(everyTool))
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := everyTool[name](t.Context(), juju.New(runner(func(_ context.Context, c run.Command) ([]byte, error) {
				return nil, &run.Error{Command: c, ExitCode: 1, Stderr: "ERROR no\n", Err: errors.New("exit status 1")}
			})))
			assert.EqualError(t, err, text)
		})
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
	tests := map[string]struct{ tool, stdout string }{
		"nothing":                     {"relation-ids", ""},
		"not JSON":                    {"is-leader", "True"},
		"a word for a boolean":        {"is-leader", `"true"`},
		"a number in relation data":   {"relation-get", `{"sb-identity":3974}`},
		"an object for a list":        {"relation-list", `{}`},
		"half of a goal state":        {"goal-state", `{"units":{"a/0":`},
		"a list of options":           {"config-get", `["source"]`},
		"a number as leader setting":  {"leader-get", `{"ready":1}`},
		"an address for a network":    {"network-get", `"10.0.0.1"`},
		"a list of action parameters": {"action-get", `[1]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := everyTool[tc.tool](t.Context(), juju.New(runner(func(context.Context, run.Command) ([]byte, error) {
				return []byte(tc.stdout), nil
			})))
			assert.ErrorContains(t, err, tc.tool+": the answer is not what Juju documents: ")
		})
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
	tests := map[string]struct {
		stdout string
		want   map[string]any
	}{
		"no options": {"{}\n", nil},
		"nothing":    {"null\n", nil},
		"each type": {
			`{"source":"caracal","ovsdb-server-election-timer":4,"enable-auto-restarts":false,"key":null,"ovn-source":"","ratio":0.5}`,
			map[string]any{
				"source": "caracal", "ovsdb-server-election-timer": json.Number("4"), "enable-auto-restarts": false, "ovn-source": "", "ratio": json.Number("0.5"),
			},
		},
		"more digits than a float has": {`{"n":12345678901234567}`, map[string]any{"n": json.Number("12345678901234567")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tools(t, runtest.Expect("config-get", "--format=json", "--all").Writes(tc.stdout)).Config(t.Context())
			require.NoError(t, err)
			if tc.want == nil {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestPorts_one_call_each(t *testing.T) {
	t.Parallel()
	script := tools(t,
		runtest.Expect("open-port", "6641/tcp"), runtest.Expect("open-port", "16642/tcp"), runtest.Expect("close-port", "6642/tcp"))
	require.NoError(t, script.OpenPorts(t.Context(), 6641, 16642))
	require.NoError(t, script.ClosePorts(t.Context(), 6642))
	require.NoError(t, script.OpenPorts(t.Context()), "nothing to open")
}

func TestPorts_stop_at_refusal(t *testing.T) {
	t.Parallel()
	script := tools(t, runtest.Expect("open-port", "0/tcp").Fails(2, "ERROR port must be between 1 and 65535, got 0\n"))
	require.EqualError(t, script.OpenPorts(t.Context(), 0, 6641), "cannot open TCP port 0: open-port: ERROR port must be between 1 and 65535, got 0")
}

func TestStatusSet_one_line_and_no_flag(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		word juju.StatusWord
		sent string
		want []string
	}{
		"plain":             {juju.Active, "2 of 3 members", []string{"--", "active", "2 of 3 members"}},
		"none":              {juju.Active, "", []string{"--", "active", ""}},
		"looks like a flag": {juju.Blocked, "--application", []string{"--", "blocked", "--application"}},
		"several lines":     {juju.Waiting, " first,\r\n\n  second\tthird\n", []string{"--", "waiting", "first, second third"}},
		"control":           {juju.Maintenance, "a\x00b\x1b[1mc\u0085d", []string{"--", "maintenance", "a b [1mc d"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := tools(t, runtest.Expect("status-set", tc.want...))
			require.NoError(t, script.StatusSet(t.Context(), tc.word, tc.sent))
		})
	}
}

func goalState(t *testing.T, stdout string) juju.GoalState {
	t.Helper()
	state, err := tools(t, runtest.Expect("goal-state", "--format=json").Writes(stdout)).GoalState(t.Context())
	require.NoError(t, err)
	return state
}

func TestGoalState_own_units(t *testing.T) {
	t.Parallel()
	state := goalState(t, `{"units":{"ovn-central/0":{"status":"active","since":"2026-01-01 00:00:00Z"},"ovn-central/1":{"status":"dying"}},`+
		`"relations":{"ovsdb":{"neutron":{"status":"joined"},"neutron/0":{"status":"dying","since":"2026-01-01 00:00:00Z"}}}}`+"\n")
	assert.Equal(t, map[string]juju.UnitGoal{
		"ovn-central/0": {Status: "active"},
		"ovn-central/1": {Status: "dying"},
	}, state.Units)
	assert.False(t, state.Dying("ovn-central/0"))
	assert.True(t, state.Dying("ovn-central/1"))
	assert.False(t, state.Dying("ovn-central/2"), "not in the model")
	assert.False(t, state.Dying("neutron/0"), "of another application")
	assert.False(t, juju.GoalState{}.Dying("ovn-central/0"))
}

func TestGoalState_other_units_by_endpoint(t *testing.T) {
	t.Parallel()
	state := goalState(t, `{"units":{"ovn-central/0":{"status":"active"}},"relations":{`+
		`"certificates":{"vault":{"status":"joined"},"vault/0":{"status":"active"}},`+
		`"ovsdb":{"ovn-chassis":{"status":"joined"},"ovn-chassis/10":{"status":"active"},"ovn-chassis/9":{"status":"allocating"},`+
		`"dedicated":{"status":"joining"},"dedicated/0":{"status":"waiting"}},`+
		`"ovsdb-cms":{"admin/openstack.neutron-api":{"status":"joined"},"other:admin/k8s.kube":{"status":"joined"}}}}`)
	assert.Len(t, state.Relations, 3)
	assert.Equal(t, "allocating", state.Relations["ovsdb"]["ovn-chassis/9"].Status)
	assert.Len(t, state.Relations["ovsdb-cms"], 2, "of an offer only the URL is shown")
	assert.Equal(t, "joined", state.Relations["certificates"]["vault"].Status)
}

func TestGoalState_without_relations(t *testing.T) {
	t.Parallel()
	state := goalState(t, `{"units":{},"relations":{}}`)
	assert.Empty(t, state.Units)
	assert.Empty(t, state.Relations)
}
