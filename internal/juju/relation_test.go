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
	"gopkg.in/yaml.v2" // go.mod replaces it by the fork with which Juju reads

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// nasty has strings that a parser may misread.
func nasty() map[string]string {
	values := map[string]string{}
	for i, s := range []string{
		"13e4", "1e10", "0017", "3974", "0b11", "0x1F", "1_000", "-1", ".5", "+1", ".inf", ".NaN", "12:30:45", "2001-12-14",
		"true", "True", "yes", "off", "null", "~", "<<", "=", " ", "  two  spaces  ", "\t", "\n", "a\nb\n", "a\r\nb", "\n\n",
		"---", "...",
		"-", "- a", "? a", ": a", "a: b", "a #b", "#", "&a", "*a", "!a", "%a", "@a", "`a`", "|", ">", "{a: b}", "[a]", "{",
		"]", ",",
		`"`, `'`, `"quoted"`, `it's`, `\`, `\n`, `\u0041`, `\/`, "<b>&amp;</b>", "$HOME", "k=v", "",
		"é", "日本語", "😀 over U+FFFF", "\u0085 next line", "\u2028\u2029", "\ufeff mark", "\ufffd", "\ufffe\uffff", "\x7f",
		"\u0080\u009f", "\x00", "\x01\x1b",
		"-----BEGIN CERTIFICATE-----\nMIIB+/==\n-----END CERTIFICATE-----\n", strings.Repeat("x: y\n", 40_000),
	} {
		values[fmt.Sprintf("key-%02d", i)] = s
	}
	for _, key := range []string{"<<", "true", "null", "17", "a: b", "é"} {
		values[key] = "by its name"
	}
	return values
}

func TestRelationSet_strings_unchanged(t *testing.T) {
	t.Parallel()
	values := nasty()
	for r := rune(0); r < 0x11000; r++ {
		if r < 0xd800 || r > 0xdfff {
			values[fmt.Sprintf("u%05x", r&^0xff)] += string(r)
		}
	}
	runner := &recorder{}
	require.NoError(t, juju.New(runner).RelationSet(t.Context(), "ovsdb-peer:0", values))
	require.Len(t, runner.calls, 1)
	sent := runner.calls[0]
	assert.Equal(t, "relation-set -r ovsdb-peer:0 --file -", sent.String())

	// relation-set does the same: jujuc/relation-set.go readSettings.
	read := map[string]string{}
	require.NoError(t, yaml.Unmarshal(sent.Stdin, read))
	assert.Equal(t, values, read)

	read = map[string]string{}
	require.NoError(t, json.Unmarshal(sent.Stdin, &read))
	assert.Equal(t, values, read, "it is JSON as well")
}

func TestRelationSet_empty_value_deletes(t *testing.T) {
	t.Parallel()
	call := runtest.Expect("relation-set", "-r", "ovsdb-peer:0", "--app", "--file", "-").Reads(`{"a":"","b":"1"}`)
	require.NoError(t, tools(t, call).RelationSetApp(t.Context(), "ovsdb-peer:0", map[string]string{"b": "1", "a": ""}))
}

func TestRelationGet_strings_unchanged(t *testing.T) {
	t.Parallel()
	values := nasty()
	text, err := json.Marshal(values)
	require.NoError(t, err)
	script := tools(t,
		runtest.Expect("relation-get", "--format=json", "-r", "ovsdb-peer:0", "-", "ovn-central/1").Writes(string(text)+"\n"),
		runtest.Expect("relation-get", "--format=json", "-r", "ovsdb-peer:0", "--app", "-",
			"ovn-central").Writes(string(text)+"\n"),
	)
	got, err := script.RelationGet(t.Context(), "ovsdb-peer:0", "ovn-central/1")
	require.NoError(t, err)
	assert.Equal(t, values, got)
	got, err = script.RelationGetApp(t.Context(), "ovsdb-peer:0", "ovn-central")
	require.NoError(t, err)
	assert.Equal(t, values, got)
}

// reader is a way to read another party's data.
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

func TestData_none_and_some(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]map[string]string{
		"{}\n": {}, "null\n": nil,
		`{"nb_cid":"0017","ready":"True","empty":""}`: {"nb_cid": "0017", "ready": "True", "empty": ""},
	} {
		for name, read := range readers {
			data, err := read(t.Context(), juju.New(answers(stdout)))
			require.NoError(t, err)
			assert.Equal(t, want, data, name)
		}
	}
}

func TestRelationGet_value_of_9_MiB_hides_no_other(t *testing.T) {
	// A real relation-get sorts by key.
	script := `printf '{"address":"10.0.0.1","big":"'; head -c 9437184 /dev/zero | tr '\0' x` + "\n" +
		`printf '","nb-identity":"13e4"}\n'`
	runtest.Install(t, map[string]string{"relation-get": script, "leader-get": script})
	for name, read := range readers {
		data, err := read(t.Context(), juju.New(run.Exec{}))
		require.NoError(t, err, name)
		assert.Equal(t, map[string]string{"address": "10.0.0.1", "big": "(9437184 bytes, too long)", "nb-identity": "13e4"},
			data, name)
	}
}

func TestData_bounded(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	read := func(t *testing.T, published map[string]string) map[string]string {
		t.Helper()
		text, err := json.Marshal(published)
		require.NoError(t, err)
		data, err := juju.New(answers(string(text))).LeaderGet(t.Context())
		require.NoError(t, err)
		return data
	}
	limit := strings.Repeat("v", mib)
	for name, c := range map[string]struct{ published, kept map[string]string }{
		"none":           {map[string]string{}, map[string]string{}},
		"value_of_limit": {map[string]string{"k": limit}, map[string]string{"k": limit}},
		"value_too_long": {map[string]string{"k": limit + "v"}, map[string]string{"k": "(1048577 bytes, too long)"}},
		"key_too_long":   {map[string]string{limit + "k": "v"}, map[string]string{"(1048577 bytes, too long)": "v"}},
		"quotes_too_long": {
			map[string]string{"a": strings.Repeat(`"\`, mib), "b": `"\`},
			map[string]string{"a": "(2097152 bytes, too long)", "b": `"\`},
		},
	} {
		assert.Equal(t, c.kept, read(t, c.published), name)
	}

	several, many := map[string]string{}, map[string]string{}
	for n := range 20 {
		several[fmt.Sprint(n)] = limit[1:]
	}
	data := read(t, several)
	assert.Len(t, data, len(several))
	assert.Equal(t, "(1048575 bytes, too long)", data["9"])
	assert.Len(t, data["0"], mib-1)

	for n := range 150_000 {
		many[fmt.Sprintf("key-%06d", n)] = limit[:100]
	}
	data = read(t, many)
	assert.Greater(t, len(data), 50_000)
	assert.Less(t, len(data), len(many))
	for n := range 50_000 {
		require.NotEmpty(t, data[fmt.Sprintf("key-%06d", n)], "the first of them")
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
		whole, wrong := read(answers(text))
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
