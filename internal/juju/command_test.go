package juju_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v2" // go.mod replaces it by the fork with which Juju reads

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

func TestRender_syntax_of_version(t *testing.T) {
	t.Parallel()
	param := func(action string, p ...command.Param) command.Command {
		return command.Command{Unit: "a/0", Action: action, Params: p}
	}
	kick := param("kick", command.Param{Key: "nb-identity", Value: "77eb"},
		command.Param{Key: "i-really-mean-it", Value: "true"})
	really := func(action string) command.Command {
		return param(action, command.Param{Key: "i-really-mean-it", Value: "true"})
	}
	text := param("kick", command.Param{Key: "sb-identity", Value: "0010", Text: true})
	for _, c := range []struct {
		version juju.Version
		command command.Command
		want    string
	}{
		{juju.Version{Major: 2, Minor: 9}, kick, "juju run-action a/0 kick nb-identity=77eb i-really-mean-it=true --wait"},
		{juju.Version{Major: 3}, kick, "juju run a/0 kick nb-identity=77eb i-really-mean-it=true"},
		{juju.Version{Major: 4}, kick, "juju run a/0 kick nb-identity=77eb i-really-mean-it=true"},
		{juju.Version{}, kick, "juju run a/0 kick nb-identity=77eb i-really-mean-it=true"},
		{juju.Version{Major: 2, Minor: 9}, param("health"), "juju run-action a/0 health --wait"},
		{juju.Version{Major: 3, Minor: 6}, param("health"), "juju run a/0 health"},
		{juju.Version{Major: 3}, param("backup"), "juju run a/0 backup --wait=30m"},
		{juju.Version{Major: 3}, really("restore"), "juju run a/0 restore i-really-mean-it=true --wait=30m"},
		{juju.Version{Major: 3}, really("decommission"), "juju run a/0 decommission i-really-mean-it=true --wait=3h"},
		{juju.Version{Major: 2}, really("drain"), "juju run-action a/0 drain i-really-mean-it=true --wait"},
		{juju.Version{}, param("recover", command.Param{Key: "dry-run", Value: "true"}), "juju run a/0 recover dry-run=true"},
		{juju.Version{Major: 3, Minor: 6}, text, `juju run a/0 kick sb-identity='"0010"'`},
	} {
		assert.Equal(t, c.want, c.version.Render(c.command))
	}
}

func TestRender_other_commands_are_equal(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]command.Command{
		"juju remove-unit ovn-central/4":                       command.RemoveUnit("ovn-central/4"),
		"juju remove-unit --force ovn-central/4 ovn-central/5": command.RemoveByForce("ovn-central/4", "ovn-central/5"),
		"juju resolved ovn-central/4":                          command.Resolved("ovn-central/4", false),
		"juju resolved --no-retry ovn-central/4":               command.Resolved("ovn-central/4", true),
		"juju ssh ovn-central/4 sudo systemctl restart 'a b'": command.OnMachine("ovn-central/4", "sudo", "systemctl",
			"restart", "a b"),
		"juju config ovn-central ovsdb-server-inactivity-probe=60": command.Client("config", "ovn-central",
			"ovsdb-server-inactivity-probe=60"),
		"": {},
	} {
		for _, version := range []juju.Version{{}, {Major: 2, Minor: 9}, {Major: 4}} {
			assert.Equal(t, want, version.Render(c))
		}
	}
}

// A typed command is split by a shell and then parsed as YAML by Juju's client (cmd/juju/action/run.go enqueueActions).
func TestTyped_survives_shell_and_YAML(t *testing.T) {
	t.Parallel()
	values := map[string]string{}
	for name, value := range nasty() {
		if !strings.Contains(value, "\x00") && len(value) < 1000 {
			values[name] = value
		}
	}
	for r := rune(1); r < 0x180; r++ {
		values[fmt.Sprintf("%04x-alone", r)] = string(r)
		values[fmt.Sprintf("%04x-first", r)] = string(r) + "ab"
		values[fmt.Sprintf("%04x-inside", r)] = "a" + string(r) + "b"
		values[fmt.Sprintf("%04x-spaced", r)] = "a " + string(r) + " b"
		values[fmt.Sprintf("%04x-last", r)] = "ab" + string(r)
	}
	c := command.Command{Unit: "a/0", Action: "b"}
	names := slices.Sorted(maps.Keys(values))
	for _, name := range names {
		c.Params = append(c.Params, command.Param{Key: "k", Value: values[name]})
	}
	line := juju.Version{}.Render(c)
	assert.NotContains(t, line, "\n", "it is one line to type")

	script := run.Command{Name: "sh", Stdin: []byte(`juju() { printf '%s\000' "$@"; }; ` + line)}
	out, err := run.Exec{}.Run(t.Context(), script)
	require.NoError(t, err)
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	require.Equal(t, []string{"run", "a/0", "b"}, words[:3])
	require.Len(t, words[3:], len(names))
	for i, name := range names {
		_, typed, _ := strings.Cut(words[3+i], "=")
		var read any = typed
		require.NoError(t, yaml.Unmarshal([]byte(typed), &read), "%q", values[name])
		if _, text := read.(string); !text && typed == values[name] {
			assert.Regexp(t, `^(\w+|\d+-\d+-\d+)$`, typed, "only a number, a boolean or null is left to YAML")
			continue
		}
		assert.Equal(t, values[name], read, "%q", typed)
	}
}

func TestIntegrate_word_of_version(t *testing.T) {
	t.Parallel()
	for version, word := range map[juju.Version]string{
		{Major: 2, Minor: 9}: "relate", {Major: 3, Minor: 6}: "integrate",
		{Major: 4}: "integrate", {}: "integrate",
	} {
		assert.Equal(t, word, version.Integrate(), version)
	}
}
