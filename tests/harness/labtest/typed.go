package labtest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Type runs a command line that the charm has printed, as an operator would paste it: a shell splits it, and then
// Juju's client acts. It returns the action's result; other commands just complete.
func (m *Model) Type(line string) lab.ActionResult {
	m.T.Helper()
	m.T.Logf("typed: %s", line)
	split := Output(m.T, m, "sh", "-c", `printf '%s\n' `+line)
	words := strings.Split(strings.TrimSuffix(split, "\n"), "\n")
	require.GreaterOrEqual(m.T, len(words), 3, line)
	require.Equal(m.T, "juju", words[0], line)
	verb, rest := words[1], words[2:]
	if verb == "run" || verb == "run-action" {
		return m.typeAction(line, rest)
	}
	out, err := "", error(nil)
	switch verb {
	case "add-unit":
		n := 1
		if len(rest) == 3 && rest[1] == "-n" {
			n, err = strconv.Atoi(rest[2])
		}
		m.AddFresh(n)
	case "remove-unit":
		m.typeRemoval(rest)
	case "resolved":
		noRetry := rest[0] == "--no-retry"
		err = forgive(m.Resolved(m.T.Context(), m.Named(rest[len(rest)-1]), noRetry))
	case "config":
		err = m.typeConfig(rest[1:])
	case "integrate", "relate":
		require.True(m.T, strings.HasSuffix(rest[0], ":certificates"), line)
		m.RelateVault()
	case "ssh": // the client joins the words, and the machine's shell splits them
		out, err = m.Named(rest[0]).Exec(m.T.Context(), "sh", "-c", `sudo() { "$@"; }; `+strings.Join(rest[1:], " "))
	case "exec":
		require.Equal(m.T, "--unit", rest[0], line)
		out, err = m.JujuExec(m.T.Context(), m.Named(rest[1]), strings.Join(rest[2:], " "))
	case "debug-log": // it only shows
	default:
		require.Fail(m.T, "no such command of Juju", line)
	}
	require.NoError(m.T, err, line)
	return lab.ActionResult{Status: "completed", Results: map[string]string{"stdout": out}}
}

// Named returns a unit of the model by its name, or the leader for APP/leader.
func (m *Model) Named(name string) *lab.Unit {
	m.T.Helper()
	if strings.HasSuffix(name, "/leader") {
		return m.Leader()
	}
	u, err := m.Unit(name)
	require.NoError(m.T, err)
	return u
}

func (m *Model) typeAction(line string, words []string) lab.ActionResult {
	m.T.Helper()
	require.GreaterOrEqual(m.T, len(words), 2, line)
	if words[0] == "vault/leader" && words[1] == "reissue-certificates" {
		m.Issue(m.CA(), nil)
		return lab.ActionResult{Status: "completed"}
	}
	args := words[2:]
	if n := len(args); n > 0 && strings.HasPrefix(args[n-1], "--wait") {
		args = args[:n-1]
	}
	r, err := m.RunAction(m.T.Context(), m.Named(words[0]), words[1], args...)
	require.NoError(m.T, err, line)
	return r
}

// typeRemoval removes units. Juju's client succeeds even if a hook fails later.
func (m *Model) typeRemoval(words []string) {
	m.T.Helper()
	o := lab.RemoveOptions{Force: words[0] == "--force"}
	if o.Force {
		words = words[1:]
	}
	for _, name := range words {
		require.NoError(m.T, forgive(m.RemoveUnit(m.T.Context(), m.Named(name), o)))
	}
}

// forgive ignores the failure of a hook.
func forgive(err error) error {
	if failed := (*lab.HookError)(nil); errors.As(err, &failed) {
		return nil
	}
	return err
}

func (m *Model) typeConfig(words []string) error {
	m.T.Helper()
	values := map[string]string{}
	if words[0] == "--reset" {
		values[words[1]] = m.defaultOf(words[1])
		words = nil
	}
	for _, word := range words {
		key, value, is := strings.Cut(word, "=")
		require.True(m.T, is, word)
		values[key] = value
	}
	return m.Configure(m.T.Context(), values)
}

func (m *Model) defaultOf(option string) string {
	m.T.Helper()
	text, err := os.ReadFile(filepath.Join(charmDir, "config.yaml"))
	require.NoError(m.T, err)
	var config struct {
		Options map[string]struct {
			Default yaml.Node `yaml:"default"`
		} `yaml:"options"`
	}
	require.NoError(m.T, yaml.Unmarshal(text, &config))
	require.Contains(m.T, config.Options, option)
	return config.Options[option].Default.Value
}
