package juju_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// reader is one way to read another party's data.
type reader func(context.Context, *juju.Tools) (map[string]string, error)

var readers = map[string]reader{
	"a unit's data": func(ctx context.Context, t *juju.Tools) (map[string]string, error) {
		return t.RelationGet(ctx, "ovsdb-cms:3", "neutron-api/0")
	},
	"an application's data": func(ctx context.Context, t *juju.Tools) (map[string]string, error) {
		return t.RelationGetApp(ctx, "ovsdb-peer:1", "ovn-central")
	},
	"leader settings": func(ctx context.Context, t *juju.Tools) (map[string]string, error) { return t.LeaderGet(ctx) },
}

// One value of 9 MiB made the hooks of all units that read it fail.
func TestRelationGet_value_of_9_MiB_hides_no_other(t *testing.T) {
	// A real relation-get sorts by key.
	script := `printf '{"address":"10.0.0.1","big":"'; head -c 9437184 /dev/zero | tr '\0' x; printf '","nb-identity":"13e4"}\n'`
	install(t, map[string]string{"relation-get": script, "leader-get": script})
	for name, read := range readers {
		data, err := read(t.Context(), juju.New(run.Exec{}))
		require.NoError(t, err, name)
		assert.Equal(t, map[string]string{"address": "10.0.0.1", "big": "(9437184 bytes, too long)", "nb-identity": "13e4"}, data, name)
	}
}

func TestDataAreBounded(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	many := map[string]string{}
	for n := range 150_000 {
		many[fmt.Sprintf("key-%06d", n)] = strings.Repeat("v", 100)
	}
	several := map[string]string{}
	for n := range 20 {
		several[fmt.Sprint(n)] = strings.Repeat("v", mib-1)
	}
	tests := map[string]struct {
		published map[string]string
		kept      func(t *testing.T, data map[string]string)
	}{
		"a value of the limit": {map[string]string{"k": strings.Repeat("v", mib)}, func(t *testing.T, data map[string]string) {
			assert.Len(t, data["k"], mib)
		}},
		"a value above the limit": {map[string]string{"k": strings.Repeat("v", mib+1)}, func(t *testing.T, data map[string]string) {
			assert.Equal(t, map[string]string{"k": "(1048577 bytes, too long)"}, data)
		}},
		"quotes and backslashes in one": {map[string]string{"a": strings.Repeat(`"\`, mib), "b": `"\`}, func(t *testing.T, data map[string]string) {
			assert.Equal(t, map[string]string{"a": "(4194304 bytes, too long)", "b": `"\`}, data)
		}},
		"several values of the limit": {several, func(t *testing.T, data map[string]string) {
			assert.Len(t, data, len(several))
			assert.Equal(t, "(1048575 bytes, too long)", data["9"])
			assert.Len(t, data["0"], mib-1)
		}},
		"a long key": {map[string]string{"a": "1", strings.Repeat("k", 9*mib): "v"}, func(t *testing.T, data map[string]string) {
			assert.Equal(t, map[string]string{"a": "1", "(9437184 bytes, too long)": "v"}, data)
		}},
		"many short values": {many, func(t *testing.T, data map[string]string) {
			assert.Greater(t, len(data), 50_000)
			assert.Less(t, len(data), len(many))
			for n := range 50_000 {
				key := fmt.Sprintf("key-%06d", n)
				require.Equal(t, many[key], data[key], "the first of them")
			}
		}},
		"none": {map[string]string{}, func(t *testing.T, data map[string]string) { assert.Empty(t, data) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(test.published)
			require.NoError(t, err)
			for name, read := range readers {
				if len(test.published) > 20 && name != "leader settings" {
					continue // they are one function
				}
				data, err := read(t.Context(), juju.New(runner(func(context.Context, run.Command) ([]byte, error) { return text, nil })))
				require.NoError(t, err)
				test.kept(t, data)
			}
		})
	}
}

// The kept output does not depend on how it is split, and is unchanged if nothing is too long.
func FuzzData(f *testing.F) {
	f.Add(`{"a":"b","c":"d\"e\\"}`, 1)
	f.Add(`null`, 3)
	f.Add(`{"a":{"b":["c"]}}`, 2)
	f.Add(`"\`, 1)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		piece = max(1, piece%(len(text)+1))
		read := func(r run.Runner) (map[string]string, error) { return juju.New(r).LeaderGet(t.Context()) }
		whole, wrong := read(runner(func(context.Context, run.Command) ([]byte, error) { return []byte(text), nil }))
		pieces, failed := read(runner(func(_ context.Context, c run.Command) ([]byte, error) {
			for part := range slices.Chunk([]byte(text), piece) {
				if _, err := c.Stdout.Write(part); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}))
		assert.Equal(t, whole, pieces)
		assert.Equal(t, wrong == nil, failed == nil)
		var want map[string]string
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&want); err == nil {
			require.NoError(t, wrong)
			assert.Equal(t, want, whole)
		}
	})
}
