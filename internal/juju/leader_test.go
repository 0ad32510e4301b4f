package juju_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

func TestIsLeader(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]bool{"true\n": true, "false\n": false} {
		leader, err := tools(t, runtest.Expect("is-leader", "--format=json").Writes(stdout)).IsLeader(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, leader)
	}
}

func TestLeaderSet_one_sorted_call(t *testing.T) {
	t.Parallel()
	script := tools(t, runtest.Expect("leader-set", "--", "-r=x y", "gone=", "nb_cid=a=b", "sb_cid=0017"))
	require.NoError(t, script.LeaderSet(t.Context(), map[string]string{
		"sb_cid": "0017", "nb_cid": "a=b", "gone": "",
		"-r": "x y",
	}))
	require.NoError(t, tools(t).LeaderSet(t.Context(), nil), "nothing to set")
}

func TestLeaderSet_refuses_values_that_Juju_changes(t *testing.T) {
	t.Parallel()
	for _, setting := range [][2]string{
		{"", "v"}, {"a=b", "v"}, {"k", " v"}, {"k", "v\n"}, {"k ", "v"}, {"k", "a\x00b"}, {"k", "\xe9"},
	} {
		err := tools(t).LeaderSet(t.Context(), map[string]string{"good": "v", setting[0]: setting[1]})
		assert.ErrorContains(t, err, fmt.Sprintf("%q", setting[0]), "and nothing was called")
	}
}

func TestLeaderSet_largest_value(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("x", juju.MaxArgument-len("k="))
	call := runtest.Expect("leader-set", "--", "k="+value)
	require.NoError(t, tools(t, call).LeaderSet(t.Context(), map[string]string{"k": value}))
	require.ErrorIs(t, tools(t).LeaderSet(t.Context(), map[string]string{"k": value + "x"}), juju.ErrTooLarge)
}
