package juju_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func TestLeadership(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]bool{"true\n": true, "false\n": false} {
		leader, err := tools(t, runtest.Expect("is-leader", "--format=json").Writes(stdout)).IsLeader(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, leader)
	}
}

func TestLeaderSettingsAreRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stdout string
		want   map[string]string
	}{
		"none": {"{}\n", nil},
		"null": {"null\n", nil},
		"some": {`{"nb_cid":"0017","ready":"True","empty":""}`, map[string]string{"nb_cid": "0017", "ready": "True", "empty": ""}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tools(t, runtest.Expect("leader-get", "--format=json").Writes(tc.stdout)).LeaderGet(t.Context())
			require.NoError(t, err)
			assert.Len(t, got, len(tc.want))
			for key, value := range tc.want {
				assert.Equal(t, value, got[key], key)
			}
		})
	}
}

func TestLeaderSet_one_sorted_call(t *testing.T) {
	t.Parallel()
	script := tools(t, runtest.Expect("leader-set", "--", "-r=x y", "gone=", "nb_cid=a=b", "sb_cid=0017"))
	require.NoError(t, script.LeaderSet(t.Context(), map[string]string{"sb_cid": "0017", "nb_cid": "a=b", "gone": "", "-r": "x y"}))
	require.NoError(t, tools(t).LeaderSet(t.Context(), nil), "nothing to set")
}

func TestLeaderSet_refuses_values_that_Juju_changes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ key, value, want string }{
		"no key":          {"", "v", `cannot write leader setting "": a key is not empty and has no =`},
		"= in a key":      {"a=b", "v", `cannot write leader setting "a=b": a key is not empty and has no =`},
		"space about":     {"k", " v", `cannot write leader setting "k": it begins or ends with a space`},
		"newline at end":  {"k", "v\n", `cannot write leader setting "k": it begins or ends with a space`},
		"space in a key":  {"k ", "v", `cannot write leader setting "k ": it begins or ends with a space`},
		"NUL":             {"k", "a\x00b", `cannot write leader setting "k": it is not text`},
		"not UTF-8":       {"k", "\xe9", `cannot write leader setting "k": it is not text`},
		"above the limit": {"k", strings.Repeat("x", juju.MaxArgument-1), `cannot write leader setting "k": too large for an argument: 131072 bytes with its key, at most 131071`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tools(t).LeaderSet(t.Context(), map[string]string{"good": "v", tc.key: tc.value})
			assert.EqualError(t, err, tc.want, "and nothing was called")
		})
	}
}

func TestLeaderSet_largest_value(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("x", juju.MaxArgument-len("k="))
	require.NoError(t, tools(t, runtest.Expect("leader-set", "--", "k="+value)).LeaderSet(t.Context(), map[string]string{"k": value}))
}
