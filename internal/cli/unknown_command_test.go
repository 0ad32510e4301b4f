package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Copy into internal/cli. The root's own Args (cobra.NoArgs) isn't wrapped by
// usage(), so a mistyped command ends with 1, not 2.
func TestCommandThatThereIsNotIsAUsageError(t *testing.T) {
	env, _ := prepare(t)
	code, _, stderr := mainOf(t, env, "ovn-central-operator", "frobnicate")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, `unknown command "frobnicate"`)
}
