package juju_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func TestActionParams_keep_digits(t *testing.T) {
	t.Parallel()
	params, err := tools(t, runtest.Expect("action-get", "--format=json").Writes(
		`{"nb-identity":3974,"sb-identity":1e+21,"big":12345678901234567890,"i-really-mean-it":true,"text":"0017","none":null,"deep":{"n":[1]}}`,
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

func TestActionWithoutParams(t *testing.T) {
	t.Parallel()
	for _, stdout := range []string{"{}\n", "null\n"} {
		params, err := tools(t, runtest.Expect("action-get", "--format=json").Writes(stdout)).ActionParams(t.Context())
		require.NoError(t, err)
		assert.Empty(t, params)
	}
}

func TestActionSet_one_sorted_call(t *testing.T) {
	t.Parallel()
	call := runtest.Expect("action-set", "a=--x=y", "b-2=two\nlines\n", "c=", "ovnsb=é \"q\" $HOME")
	require.NoError(t, tools(t, call).ActionSet(t.Context(), map[string]string{
		"ovnsb": `é "q" $HOME`, "c": "", "a": "--x=y", "b-2": "two\nlines\n",
	}))
	require.NoError(t, tools(t).ActionSet(t.Context(), nil), "nothing to set")
}

func TestActionSet_refuses_bad_keys(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		key, value, text string
		large            bool
	}{
		"capitals":         {"ovnSB", "", `cannot set action result "ovnSB": a key `, false},
		"underscore":       {"unit_map", "", `cannot set action result "unit_map": a key `, false},
		"hyphen at start":  {"-a", "", `cannot set action result "-a": a key `, false},
		"hyphen at end":    {"a-", "", `cannot set action result "a-": a key `, false},
		"path":             {"a.b", "", `cannot set action result "a.b": a key `, false},
		"equals sign":      {"a=b", "", `cannot set action result "a=b": a key `, false},
		"newline":          {"a\n", "", `cannot set action result "a\n": a key `, false},
		"no key":           {"", "", `cannot set action result "": a key `, false},
		"Juju's own":       {"stdout", "", `cannot set action result "stdout": Juju sets it itself`, false},
		"Juju's own too":   {"stderr-encoding", "", `cannot set action result "stderr-encoding": Juju sets it itself`, false},
		"NUL in the value": {"a", "b\x00", `cannot set action result "a": it has a NUL byte`, false},
		"too large": {
			"ovnsb", strings.Repeat("x", 131_072),
			`cannot set action result "ovnsb": too large for an argument: 131078 bytes with its key, at most 131071`, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tools(t).ActionSet(t.Context(), map[string]string{"good": "1", tc.key: tc.value})
			require.ErrorContains(t, err, tc.text)
			assert.Equal(t, tc.large, errors.Is(err, juju.ErrTooLarge))
		})
	}
}

func TestArgument_long_message_is_cut(t *testing.T) {
	t.Parallel()
	runner := &recorder{}
	require.NoError(t, juju.New(runner).ActionFail(t.Context(), "x\x00"+strings.Repeat("é", juju.MaxArgument)))
	require.Len(t, runner.calls, 1)
	message := runner.calls[0].Args[1]
	assert.LessOrEqual(t, len(message), juju.MaxArgument)
	assert.Greater(t, len(message), juju.MaxArgument-4)
	assert.True(t, utf8.ValidString(message), "cut between two characters")
	assert.True(t, strings.HasPrefix(message, "xé"), "without the NUL")
	assert.True(t, strings.HasSuffix(message, "é…"), "and it shows")
}
