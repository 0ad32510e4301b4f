package action

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

func TestActionHealth(t *testing.T) {
	for _, c := range []struct {
		params map[string]any
		keys   []string
	}{
		{nil, []string{"health", "verdict"}},
		{map[string]any{"detail": true}, []string{"details", "health", "verdict"}},
		{map[string]any{"format": "json"}, []string{"findings", "health", "verdict"}},
	} {
		a := &agent{params: c.params}
		require.NoError(t, Run(t.Context(), unit(t, a), "health"))
		assert.Equal(t, c.keys, slices.Sorted(maps.Keys(a.results)))
		assert.Equal(t, "ERR", a.results["verdict"], "the options can't be read")
	}
}

// Scripts read the action's failure, or the result.
func TestOKTo_refusal_fails_the_action(t *testing.T) {
	refusals := map[string]finding.Code{"ok-to-stop": finding.StopUnsafe, "ok-to-remove": finding.RemovalUnsafe}
	for name, code := range refusals {
		a := &agent{params: map[string]any{"unit": "ovn-central/0"}}
		require.NoError(t, Run(t.Context(), unit(t, a), name))
		assert.Equal(t, "false", a.results["ok"], name)
		assert.Contains(t, a.results["details"], code, name)
		assert.NotEmpty(t, a.failed, name)
		assert.Empty(t, a.other, "%s changes nothing", name)
	}
}
