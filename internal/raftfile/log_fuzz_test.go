package raftfile

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLog holds that no file makes the reader panic, or continue for ever, and that
// what was read while it was written is what is read at once.
func FuzzLog(f *testing.F) {
	record := func(text string) string {
		return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text)
	}
	whole := record(`{"prev_index":1,"prev_term":1}`) + record(`{"index":2,"term":1,"data":["}{",{"index":7}]}`) + record(`{"commit_index":2}`)
	f.Add([]byte(whole), 150)
	f.Add([]byte(whole+record("{")+"OVSDB CLUSTER 9 x\n"), 10)
	f.Add([]byte(whole+record(`{"index":4,"term":1}`)+whole), 300)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		var once, twice logScan
		torn, err := once.read(t.Context(), bytes.NewReader(text))
		require.NoError(t, err)
		if at < 0 || at > len(text) {
			return
		}
		_, err = twice.read(t.Context(), bytes.NewReader(text[:at]))
		require.NoError(t, err)
		again, err := twice.read(t.Context(), bytes.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, torn, again)
		require.Equal(t, once, twice)
	})
}
