package juju_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

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
