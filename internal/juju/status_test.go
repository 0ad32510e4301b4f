package juju_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

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
