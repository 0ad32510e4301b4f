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

// holding is an entry with a transaction, or with a schema, or with neither.
func holding(index, term int, schema, transaction string) string {
	data := ""
	if schema != "" {
		data = `"data":[` + schema + `,` + transaction + `],`
	}
	return record(fmt.Sprintf(`{%s"eid":"e1000000-0000-4000-8000-000000000001","index":%d,"term":%d}`, data, index, term))
}

// texts are the records of a standalone database's file. Each has the length and the checksum in the line before it.
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

// Extract uses only the entries that count, whatever else the file has.
func TestStandaloneCopyHasOfEachEntryTheOneThatWasWrittenLast(t *testing.T) {
	t.Parallel()
	const other = `{"cksum":"2 2","name":"OVN_Northbound","tables":{},"version":"8.0.0"}`
	a, b, c, d := `{"T":{"a":null}}`, `{"T":{"b":{"x":["map",[["],[","}"]]]}}}`, `{"T":{"c":{}}}`, `{"D":{}}`
	for name, x := range map[string]struct {
		records []string
		upTo    uint64
		want    []string
		last    uint64
	}{
		"the snapshot alone":                  {nil, 9, []string{logSchema, `{}`}, 1},
		"entries in their order":              {[]string{holding(2, 1, "null", a), commit(2), holding(3, 1, "null", b)}, 9, []string{logSchema, `{}`, a, b}, 3},
		"up to what is committed":             {[]string{holding(2, 1, "null", a), commit(2), holding(3, 1, "null", b)}, 2, []string{logSchema, `{}`, a}, 2},
		"entries without data":                {[]string{holding(2, 1, "", ""), holding(3, 1, "null", "null"), holding(4, 1, "null", a)}, 9, []string{logSchema, `{}`, a}, 4},
		"another took the place of one":       {[]string{holding(2, 1, "null", a), holding(2, 2, "null", b)}, 9, []string{logSchema, `{}`, b}, 2},
		"another took the place of several":   {[]string{holding(2, 1, "null", a), holding(3, 1, "null", b), holding(2, 2, "null", c)}, 9, []string{logSchema, `{}`, c}, 2},
		"all of it with another schema":       {[]string{holding(2, 1, "null", a), holding(3, 1, other, d), holding(4, 1, "null", c)}, 9, []string{other, d, c}, 4},
		"another schema that was taken back":  {[]string{holding(2, 1, "null", a), holding(3, 1, other, d), holding(3, 2, "null", c)}, 9, []string{logSchema, `{}`, a, c}, 3},
		"a record that is still being stored": {[]string{holding(2, 1, "null", a), holding(3, 1, "null", b)[:99]}, 9, []string{logSchema, `{}`, a}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, to := newLogFile(t), filepath.Join(t.TempDir(), "copy")
			f.write(t, append([]string{record(logHeader)}, x.records...)...)
			require.NoError(t, os.WriteFile(to, []byte("what was left of another try, which is much longer than the copy"), 0o600))
			last, err := raftfile.Standalone(t.Context(), f.path, x.upTo, to, nil)
			require.NoError(t, err)
			assert.Equal(t, x.last, last)
			assert.Equal(t, x.want, texts(t, to))
		})
	}
}

func TestStandaloneCopyIsNotMadeOfWhatIsDamaged(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		records []string
		says    string
	}{
		"a gap":                  {[]string{record(logHeader), holding(3, 1, "null", "{}")}, "has entry 3, but the one before it is 1"},
		"an unreadable record":   {[]string{record(logHeader), strings.Replace(holding(2, 1, "null", "{}"), "eid", "EID", 1), commit(2)}, "can't be read, and others follow it"},
		"three elements of data": {[]string{record(logHeader), holding(2, 1, "null", "{},{}")}, "entry 2: its data are 3 elements instead of a schema and a transaction"},
		"nothing":                {nil, "the record is incomplete"},
		"a server that joins":    {[]string{record(`{"server_id":"` + ownID + `","name":"OVN_Northbound","local_address":"tcp:127.0.0.1:6643"}`)}, "it has no data yet: its server has not joined"},
	} {
		f, to := newLogFile(t), filepath.Join(t.TempDir(), "copy")
		f.write(t, x.records...)
		_, err := raftfile.Standalone(t.Context(), f.path, math.MaxUint64, to, nil)
		require.ErrorContains(t, err, x.says, name)
		assert.NoFileExists(t, to, name)
	}
}
