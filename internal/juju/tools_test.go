package juju_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// everyTool calls each tool once.
var everyTool = map[string]func(context.Context, *juju.Tools) error{
	"relation-ids":  func(ctx context.Context, t *juju.Tools) error { return second(t.RelationIDs(ctx, "ovsdb")) },
	"relation-list": func(ctx context.Context, t *juju.Tools) error { return second(t.RelationUnits(ctx, "ovsdb:1")) },
	"relation-get": func(ctx context.Context, t *juju.Tools) error {
		return second(t.RelationGet(ctx, "ovsdb:1", "a/0"))
	},
	"relation-get app": func(ctx context.Context, t *juju.Tools) error {
		return second(t.RelationGetApp(ctx, "ovsdb:1", "a"))
	},
	"relation-set":     func(ctx context.Context, t *juju.Tools) error { return t.RelationSet(ctx, "ovsdb:1", some) },
	"relation-set app": func(ctx context.Context, t *juju.Tools) error { return t.RelationSetApp(ctx, "ovsdb:1", some) },
	"config-get":       func(ctx context.Context, t *juju.Tools) error { return second(t.Config(ctx)) },
	"network-get": func(ctx context.Context, t *juju.Tools) error {
		return second(t.NetworkGet(ctx, "ovsdb", "ovsdb:1"))
	},
	"leader-get":  func(ctx context.Context, t *juju.Tools) error { return second(t.LeaderGet(ctx)) },
	"leader-set":  func(ctx context.Context, t *juju.Tools) error { return t.LeaderSet(ctx, some) },
	"open-port":   func(ctx context.Context, t *juju.Tools) error { return t.OpenPorts(ctx, 6641) },
	"is-leader":   func(ctx context.Context, t *juju.Tools) error { return second(t.IsLeader(ctx)) },
	"goal-state":  func(ctx context.Context, t *juju.Tools) error { return second(t.GoalState(ctx)) },
	"status-set":  func(ctx context.Context, t *juju.Tools) error { return t.StatusSet(ctx, juju.Active, "") },
	"action-get":  func(ctx context.Context, t *juju.Tools) error { return second(t.ActionParams(ctx)) },
	"action-set":  func(ctx context.Context, t *juju.Tools) error { return t.ActionSet(ctx, some) },
	"action-fail": func(ctx context.Context, t *juju.Tools) error { return t.ActionFail(ctx, "m") },
	"action-log":  func(ctx context.Context, t *juju.Tools) error { return t.ActionLog(ctx, "m") },

	"application-version-set": func(ctx context.Context, t *juju.Tools) error {
		return t.ApplicationVersionSet(ctx, "23.03")
	},
}

var some = map[string]string{"k": "v"}

func second[T any](_ T, err error) error { return err }

// runner implements run.Runner by a function.
type runner func(context.Context, run.Command) ([]byte, error)

func (r runner) Run(ctx context.Context, c run.Command) ([]byte, error) { return r(ctx, c) }

// answers returns a tool that writes stdout.
func answers(stdout string) runner {
	return func(context.Context, run.Command) ([]byte, error) { return []byte(stdout), nil }
}

// fails returns a tool that fails.
func fails(code int, stderr string) runner {
	return func(_ context.Context, c run.Command) ([]byte, error) {
		return nil, &run.Error{Command: c, ExitCode: code, Stderr: stderr, Err: errors.New("exit status")}
	}
}

func TestTools_every_call(t *testing.T) {
	t.Parallel()
	for name, call := range everyTool {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failure error
			tools := juju.New(runner(func(ctx context.Context, c run.Command) ([]byte, error) {
				deadline, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.WithinDuration(t, time.Now().Add(juju.Timeout), deadline, 10*time.Second)
				return nil, &run.Error{Command: c, ExitCode: 1, Stderr: "ERROR no\n", Err: failure}
			}))
			tool, _, _ := strings.Cut(name, " ")
			assert.Regexp(t, "^cannot .*: "+tool+": ERROR no$", call(context.Background(), tools).Error())
			failure = exec.ErrNotFound
			assert.ErrorIs(t, call(context.Background(), tools), juju.ErrNoTool)
		})
	}
}

// The texts are those of Juju's hook tools.
func TestTools_messages_become_typed_errors(t *testing.T) {
	t.Parallel()
	const (
		badOption = "ERROR invalid value \"ovsdb:1\" for option -r: relation not found\n"
		noBinding = "ERROR binding name \"ovsdb\" not defined by the unit's charm\n"
		writing   = "ERROR cannot write leadership settings: cannot write settings: "
	)
	for name, tc := range map[string]struct {
		tool   string
		code   int
		stderr string
		kind   error
	}{
		"unknown_unit": {
			"relation-get", 1,
			`ERROR cannot read settings for unit "a/9" in relation "a:ovsdb-peer": unit "a/9": settings not found` + "\n",
			juju.ErrNotFound,
		},
		"unknown_relation":            {"relation-get", 2, badOption, juju.ErrNotFound},
		"units_of_unknown_relation":   {"relation-list", 2, badOption, juju.ErrNotFound},
		"network_of_unknown_relation": {"network-get", 2, badOption, juju.ErrNotFound},
		"removed_relation":            {"relation-set", 1, "ERROR relation not found\n", juju.ErrNotFound},
		"relation_the_model_lost":     {"relation-get", 1, "ERROR permission denied\n", juju.ErrNotFound},
		"application_outside":         {"relation-get app", 1, "ERROR permission denied\n", juju.ErrNotFound},
		"unreadable_socket":           {"relation-get", 1, "ERROR dial unix /a.socket: connect: permission denied\n", nil},
		"permission_of_another":       {"goal-state", 1, "ERROR permission denied\n", nil},
		"app_data_not_leader":         {"relation-set app", 1, "ERROR cannot write relation settings\n", nil},
		"leadership_unknown":          {"is-leader", 1, "ERROR leadership status unknown: connection lost\n", nil},
		"unknown_endpoint":            {"network-get", 1, noBinding, nil},
		"settings_not_leader":         {"leader-set", 1, writing + "not the leader\n", juju.ErrNotLeader},
		"settings_no_controller":      {"leader-set", 1, writing + "connection is shut down\n", nil},
		"leadership_just_lost": {
			"leader-set", 1, writing + `prerequisites failed: "a/0" is not leader of "a"` + "\n", juju.ErrNotLeader,
		},
		"no_text": {"relation-get", 1, "", nil},
	} {
		err := everyTool[tc.tool](t.Context(), juju.New(fails(tc.code, tc.stderr)))
		failed := (*run.Error)(nil)
		require.ErrorAs(t, err, &failed, name)
		assert.Equal(t, tc.code, failed.ExitCode, name)
		for _, kind := range []error{juju.ErrNotFound, juju.ErrNoTool, juju.ErrNotLeader} {
			assert.Equal(t, errors.Is(tc.kind, kind), errors.Is(err, kind), "%s: %v", name, kind)
		}
	}
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
		assert.ErrorContains(t, err, c[0]+": ", c[1])
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
	script := tools(t, runtest.Expect("open-port", "6641/tcp"), runtest.Expect("open-port", "16642/tcp"))
	require.NoError(t, script.OpenPorts(t.Context(), 6641, 16642))
}

// A message is one argument and no flag. In a status it is one line.
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
	slog.New(juju.NewLogHandler(script, io.Discard)).InfoContext(ctx, "-x", "k", "$(id)")
}

// For an offer, Juju shows only its URL.
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

func TestIsLeader(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]bool{"true\n": true, "false\n": false} {
		leader, err := tools(t, runtest.Expect("is-leader", "--format=json").Writes(stdout)).IsLeader(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, leader)
	}
}

func TestActionParams_keep_digits(t *testing.T) {
	t.Parallel()
	params, err := tools(t, runtest.Expect("action-get", "--format=json").Writes(
		`{"nb-identity":3974,"sb-identity":1e+21,"big":12345678901234567890,`+
			`"i-really-mean-it":true,"text":"0017","none":null,"deep":{"n":[1]}}`,
	)).ActionParams(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"nb-identity":      json.Number("3974"),
		"sb-identity":      json.Number("1e+21"),
		"big":              json.Number("12345678901234567890"),
		"i-really-mean-it": true,
		"text":             "0017",
		"none":             nil,
		"deep":             map[string]any{"n": []any{json.Number("1")}},
	}, params)
}

func TestSet_one_sorted_call(t *testing.T) {
	t.Parallel()
	values := map[string]string{"ovnsb": `é "q" $HOME`, "c": "", "a": "--x=y", "b-2": "two\nlines\n"}
	args := []string{"a=--x=y", "b-2=two\nlines\n", "c=", "ovnsb=é \"q\" $HOME"}
	script := tools(t,
		runtest.Expect("action-set", args...), runtest.Expect("leader-set", append([]string{"--"}, args...)...))
	require.NoError(t, script.ActionSet(t.Context(), values))
	require.NoError(t, script.LeaderSet(t.Context(), values))
}

// The longest argument has MaxArgument bytes.
func TestMaxArgument_is_limit_of_system(t *testing.T) {
	runtest.Install(t, map[string]string{"action-set": "exit 0"})
	value := strings.Repeat("x", juju.MaxArgument-len("k="))
	require.NoError(t, juju.New(run.Exec{}).ActionSet(t.Context(), map[string]string{"k": value}))
	require.ErrorIs(t, juju.New(run.Exec{}).ActionSet(t.Context(), map[string]string{"k": value + "x"}), syscall.E2BIG)
}

func TestTools_long_message_is_cut(t *testing.T) {
	t.Parallel()
	const maxLogLine = 8 << 10
	failed, logged := &recorder{}, &recorder{}
	require.NoError(t, juju.New(failed).ActionFail(t.Context(), "x\x00"+strings.Repeat("é", juju.MaxArgument)))
	log := slog.New(juju.NewLogHandler(juju.New(logged), io.Discard))
	log.Info("x" + strings.Repeat("é", maxLogLine)) //nolint:sloglint // a long message
	for most, message := range map[int]string{
		juju.MaxArgument: failed.calls[0].Args[1], maxLogLine: logged.calls[0].Args[3],
	} {
		assert.LessOrEqual(t, len(message), most)
		assert.Greater(t, len(message), most-4)
		assert.True(t, utf8.ValidString(message), "cut between two characters")
		assert.True(t, strings.HasPrefix(message, "xé"), "without the NUL")
		assert.True(t, strings.HasSuffix(message, "é…"), "and the cut is marked")
	}
}
