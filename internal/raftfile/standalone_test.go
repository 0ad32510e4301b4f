package raftfile_test

import (
	"bufio"
	"crypto/sha1"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

const logSchema = `{"cksum":"1 1","name":"OVN_Northbound","tables":{},"version":"7.0.0"}`

// holding returns an entry with a transaction, a schema, or neither.
func holding(index, term int, schema, transaction string) string {
	data := ""
	if schema != "" {
		data = `"data":[` + schema + `,` + transaction + `],`
	}
	return record(fmt.Sprintf(`{%s"eid":"e1000000-0000-4000-8000-000000000001","index":%d,"term":%d}`, data, index, term))
}

// texts returns the records of a standalone database's file. Before each is a line with its length and checksum.
func texts(t *testing.T, path string) (all []string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for in := bufio.NewReader(file); ; {
		if _, err := in.Peek(1); err == io.EOF {
			return all
		}
		var length int
		var sum string
		_, err := fmt.Fscanf(in, "OVSDB JSON %d %s\n", &length, &sum)
		require.NoError(t, err)
		text := make([]byte, length)
		_, err = io.ReadFull(in, text)
		require.NoError(t, err)
		require.Equal(t, sum, fmt.Sprintf("%x", sha1.Sum(text)))
		all = append(all, strings.TrimSuffix(string(text), "\n"))
	}
}

func TestStandalone(t *testing.T) {
	t.Parallel()
	const other = `{"cksum":"2 2","name":"OVN_Northbound","tables":{},"version":"8.0.0"}`
	a, b, c, d := `{"T":{"a":null}}`, `{"T":{"b":{"x":["map",[["],[","}"]]]}}}`, `{"T":{"c":{}}}`, `{"D":{}}`
	data := func(index, term int, transaction string) string { return holding(index, term, "null", transaction) }
	const all = math.MaxUint64
	for name, x := range map[string]struct {
		records []string
		upTo    uint64
		want    []string // the records after the schema and the snapshot's data
		last    uint64
	}{
		"snapshot":         {nil, all, nil, 1},
		"entries":          {[]string{data(2, 1, a), commit(2), data(3, 1, b)}, all, []string{a, b}, 3},
		"up_to_index":      {[]string{data(2, 1, a), commit(2), data(3, 1, b)}, 2, []string{a}, 2},
		"without_data":     {[]string{holding(2, 1, "", ""), data(3, 1, "null"), data(4, 1, a)}, all, []string{a}, 4},
		"one_replaced":     {[]string{data(2, 1, a), data(2, 2, b)}, all, []string{b}, 2},
		"several_replaced": {[]string{data(2, 1, a), data(3, 1, b), data(2, 2, c)}, all, []string{c}, 2},
		"other_schema":     {[]string{data(2, 1, a), holding(3, 1, other, d), data(4, 1, c)}, all, []string{other, d, c}, 4},
		"replaced_schema":  {[]string{data(2, 1, a), holding(3, 1, other, d), data(3, 2, c)}, all, []string{a, c}, 3},
		"incomplete":       {[]string{data(2, 1, a), data(3, 1, b)[:99]}, all, []string{a}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, to := newLogFile(t), filepath.Join(t.TempDir(), "copy")
			f.write(t, append([]string{record(logHeader)}, x.records...)...)
			require.NoError(t, os.WriteFile(to, []byte(strings.Repeat("an earlier try", 99)), 0o600))
			last, err := raftfile.Standalone(t.Context(), f.path, x.upTo, to, nil)
			require.NoError(t, err)
			assert.Equal(t, x.last, last)
			want := append([]string{logSchema, `{}`}, x.want...)
			if name == "other_schema" {
				want = x.want
			}
			assert.Equal(t, want, texts(t, to))
		})
	}
}

func TestStandalone_damaged(t *testing.T) {
	t.Parallel()
	joining := record(`{"server_id":"` + ownID + `","name":"OVN_Northbound","local_address":"tcp:127.0.0.1:6643"}`)
	unreadable := strings.Replace(holding(2, 1, "null", "{}"), "eid", "EID", 1)
	for name, records := range map[string][]string{
		"gap":            {record(logHeader), holding(3, 1, "null", "{}")},
		"unreadable":     {record(logHeader), unreadable, commit(2)},
		"three_elements": {record(logHeader), holding(2, 1, "null", "{},{}")},
		"empty":          nil,
		"joining":        {joining},
	} {
		f, to := newLogFile(t), filepath.Join(t.TempDir(), "copy")
		f.write(t, records...)
		_, err := raftfile.Standalone(t.Context(), f.path, math.MaxUint64, to, nil)
		require.Error(t, err, name)
		assert.NoFileExists(t, to, name)
	}
}
