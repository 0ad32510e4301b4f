package juju_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
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

func TestActionSet_one_sorted_call(t *testing.T) {
	t.Parallel()
	call := runtest.Expect("action-set", "a=--x=y", "b-2=two\nlines\n", "c=", "ovnsb=é \"q\" $HOME")
	require.NoError(t, tools(t, call).ActionSet(t.Context(), map[string]string{
		"ovnsb": `é "q" $HOME`, "c": "", "a": "--x=y", "b-2": "two\nlines\n",
	}))
	require.NoError(t, tools(t).ActionSet(t.Context(), nil), "nothing to set")
}

func TestActionSet_refuses_bad_results(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"ovnSB", "unit_map", "-a", "a-", "a.b", "a=b", "a\n", "", "stdout", "stderr-encoding", // the last two are Juju's own
	} {
		err := tools(t).ActionSet(t.Context(), map[string]string{"good": "1", key: ""})
		require.ErrorContains(t, err, fmt.Sprintf("%q", key), "and nothing was set")
	}
	require.ErrorContains(t, tools(t).ActionSet(t.Context(), map[string]string{"a": "b\x00"}), "NUL")
	large := map[string]string{"ovnsb": strings.Repeat("x", juju.MaxArgument-len("ovnsb=")+1)}
	require.ErrorIs(t, tools(t).ActionSet(t.Context(), large), juju.ErrTooLarge)
}

func TestTools_long_message_is_cut(t *testing.T) {
	t.Parallel()
	failed, logged := &recorder{}, &recorder{}
	require.NoError(t, juju.New(failed).ActionFail(t.Context(), "x\x00"+strings.Repeat("é", juju.MaxArgument)))
	log := slog.New(juju.NewLogHandler(juju.New(logged), io.Discard, nil))
	log.Info("x" + strings.Repeat("é", juju.MaxLogLine)) //nolint:sloglint // a long message
	for most, message := range map[int]string{
		juju.MaxArgument: failed.calls[0].Args[1], juju.MaxLogLine: logged.calls[0].Args[3],
	} {
		assert.LessOrEqual(t, len(message), most)
		assert.Greater(t, len(message), most-4)
		assert.True(t, utf8.ValidString(message), "cut between two characters")
		assert.True(t, strings.HasPrefix(message, "xé"), "without the NUL")
		assert.True(t, strings.HasSuffix(message, "é…"), "and the cut is marked")
	}
}
