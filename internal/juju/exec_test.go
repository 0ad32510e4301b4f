package juju_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// install puts a hook tool first in PATH: a shell script; $HERE is its directory.
func install(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for tool, script := range scripts {
		text := "#!/bin/sh\nset -eu\nHERE='" + dir + "'\n" + script + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, tool), []byte(text), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// keepArgs is a script that records its arguments, each ended by NUL, and its input.
const keepArgs = `printf '%s\000' "$@" >"$HERE/args"; cat >"$HERE/stdin"`

func kept(t *testing.T, dir string) (args []string, stdin string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "args"))
	require.NoError(t, err)
	input, err := os.ReadFile(filepath.Join(dir, "stdin"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), string(input)
}

func TestProgram_settings_on_stdin(t *testing.T) {
	dir := install(t, map[string]string{"relation-set": keepArgs})
	certificate := "-----BEGIN-----\n\"é\"\n"
	require.NoError(t, juju.New(run.Exec{}).RelationSet(t.Context(), "ovsdb-peer:0", map[string]string{
		"sb-identity": "13e4", "nb-identity": "", "cert": certificate,
	}))
	args, stdin := kept(t, dir)
	assert.Equal(t, []string{"-r", "ovsdb-peer:0", "--file", "-"}, args)
	assert.JSONEq(t, `{"sb-identity":"13e4","nb-identity":"","cert":"-----BEGIN-----\n\"é\"\n"}`, stdin)
	assert.NotContains(t, strings.Join(args, " "), "BEGIN", "no list of processes shows it")
}

func TestProgram_answers_and_exit_codes(t *testing.T) {
	install(t, map[string]string{
		"relation-get": `test "$*" = "--format=json -r ovsdb-peer:0 - ovn-central/1" || {
	echo 'ERROR invalid value "ovsdb-peer:7" for option -r: relation not found' >&2; exit 2; }
echo 'WARNING noise' >&2; echo '{"sb-identity":"0017"}'`,
		"relation-ids": `echo '["ovsdb-peer:0"]'`,
		"is-leader":    `echo 'ERROR leadership status unknown: connection is shut down' >&2; exit 1`,
		"action-get":   `echo 'ERROR not running an action' >&2; exit 1`,
	})
	ctx, tools := t.Context(), juju.New(run.Exec{})

	ids, err := tools.RelationIDs(ctx, "ovsdb-peer")
	require.NoError(t, err)
	assert.Equal(t, []string{"ovsdb-peer:0"}, ids)

	data, err := tools.RelationGet(ctx, "ovsdb-peer:0", "ovn-central/1")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"sb-identity": "0017"}, data)

	_, err = tools.RelationGet(ctx, "ovsdb-peer:7", "ovn-central/1")
	require.ErrorIs(t, err, juju.ErrNotFound)
	failed := (*run.Error)(nil)
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 2, failed.ExitCode)

	_, err = tools.IsLeader(ctx)
	require.EqualError(t, err,
		"cannot ask for leadership: is-leader: ERROR leadership status unknown: connection is shut down")

	_, err = tools.ActionParams(ctx)
	require.ErrorIs(t, err, juju.ErrNotAnAction)
}

func TestMaxArgument_is_limit_of_system(t *testing.T) {
	install(t, map[string]string{"action-set": `exit 0`})
	tools := juju.New(run.Exec{})
	value := strings.Repeat("x", juju.MaxArgument-len("k="))
	require.NoError(t, tools.ActionSet(t.Context(), map[string]string{"k": value}))
	require.ErrorIs(t, tools.ActionSet(t.Context(), map[string]string{"k": value + "x"}), juju.ErrTooLarge)

	_, err := run.Exec{}.Run(t.Context(), run.Command{Name: "action-set", Args: []string{"k=" + value + "x"}})
	require.ErrorContains(t, err, "argument list too long", "one byte more is refused by the system")

	// 64 of them are 8 MiB: above every limit of a command line.
	many := map[string]string{}
	for i := range 64 {
		many["k"+string(rune('0'+i/10))+string(rune('0'+i%10))] = value[:len(value)-2]
	}
	require.ErrorIs(t, tools.ActionSet(t.Context(), many), juju.ErrTooLarge)
}
