package cli

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever leaves the clusters stops the agent before, by what package membership is given for it.
func TestLeavingStopsTheAgent(t *testing.T) {
	t.Parallel()
	require.NotNil(t, unit(func(string) string { return "" }, io.Discard).service.BeforeLeaving)
}
