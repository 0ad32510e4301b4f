package raftfile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLog shows that no file makes the reader panic or hang, and that two reads have the same result as one.
func FuzzLog(f *testing.F) {
	whole := recordText(`{"prev_index":1,"prev_term":1}`) + recordText(`{"index":2,"term":1,"data":["}{",{"index":7}]}`) +
		recordText(`{"commit_index":2}`)
	f.Add([]byte(whole), 150)
	f.Add([]byte(whole+recordText("{")+"OVSDB CLUSTER 9 x\n"), 10)
	f.Add([]byte(whole+recordText(`{"index":4,"term":1}`)+whole), 300)
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
