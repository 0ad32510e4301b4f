package lease_test

import (
	"bytes"
	"compress/flate"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

// Any client of the database may write the record (R18).
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "{}", "garbage\x1b[2J", strings.Repeat("x", 110_000),
		`{"holder":"\u001b[2Jghost/9\n","term":18446744073709551615,"ttl":-1,"instance":"a\r","address":"b\u0000"}`,
		`{"holder":"` + strings.Repeat("h", 110_000) +
			`","noted":[{"id":"a\n","kind":"b\n","by":"c\n","from":"d\n"}]}`, `{"term":1e30}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := lease.Parse(text)
		if err != nil {
			assert.LessOrEqual(t, len(err.Error()), 4*foreign.MaxName, "quoted")
			return
		}
		r.Pad = ""
		again, _ := lease.Parse(text)
		again.Pad = ""
		foreign.Texts(&again)
		assert.Equal(t, again, r)
		assert.True(t, foreign.IsName(r.Holder))
	})
}

func TestPadded_fills_two_pages_until_next_record(t *testing.T) {
	t.Parallel()
	r := lease.Record{}.Taken("ovn-central/0", time.Minute).Padded()
	var short bytes.Buffer
	w, err := flate.NewWriter(&short, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write([]byte(r.String()))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.GreaterOrEqual(t, short.Len(), 8<<10, "even if the file system compresses")
	assert.NotEqual(t, r.Pad, r.Taken("ovn-central/1", time.Minute).Padded().Pad)

	parsed, err := lease.Parse(r.String())
	require.NoError(t, err)
	assert.Equal(t, r.String(), parsed.String(), "it can be compared and swapped")
	for name, next := range map[string]lease.Record{
		"renewed": r.Renewed(), "released": r.Released(),
		"taken over": r.Taken("ovn-central/1", time.Minute),
	} {
		assert.Empty(t, next.Pad, name)
	}
}
