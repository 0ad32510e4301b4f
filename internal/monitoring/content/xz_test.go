//go:build programs

package content

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// The reader is the real xz; Python's lzma, which the agent uses, is built on the same library.
func TestXz_round_trip(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 3, 4, 5, maxChunk - 1, maxChunk, maxChunk + 1, 3*maxChunk + 7} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			data := bytes.Repeat([]byte("{\"a\": 1}\n"), size)[:size]
			out, err := run.Exec{}.Run(t.Context(), run.Command{
				Name: "xz", Args: []string{"--decompress", "--stdout"},
				Stdin: xz(data),
			})
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data, out), "%d bytes in, %d out", len(data), len(out))
		})
	}
}
