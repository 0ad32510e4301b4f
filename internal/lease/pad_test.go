package lease_test

import (
	"bytes"
	"compress/flate"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

func TestPadded_fills_two_pages_until_next_record(t *testing.T) {
	t.Parallel()
	r := lease.Record{}.Taken("ovn-central/0", time.Minute).Padded()
	var short bytes.Buffer
	w, err := flate.NewWriter(&short, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write([]byte(r.String()))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.GreaterOrEqual(t, short.Len(), 8<<10, "also where the file system compresses")
	assert.NotEqual(t, r.Pad, r.Taken("ovn-central/1", time.Minute).Padded().Pad)

	parsed, err := lease.Parse(r.String())
	require.NoError(t, err)
	assert.Equal(t, r.String(), parsed.String(), "it can be compared and swapped")
	for name, next := range map[string]lease.Record{"renewed": r.Renewed(), "released": r.Released(), "taken over": r.Taken("ovn-central/1", time.Minute)} {
		assert.Empty(t, next.Pad, name)
	}
}
