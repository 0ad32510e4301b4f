package cli

import (
	"bytes"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/shelltest"
)

// Every way to leave the clusters first stops the agent, through package membership's field.
func TestLeavingStopsTheAgent(t *testing.T) {
	t.Parallel()
	require.NotNil(t, unit(func(string) string { return "" }, io.Discard).Members.BeforeLeaving)
}

// A shell reads the same arguments back, including names with spaces and quotes.
func TestGateways_printed_commands_can_be_pasted(t *testing.T) {
	t.Parallel()
	f := databaseFlags{typed: [][2]string{{"--nb", "ssl:10.0.0.5:6641"}}}
	f.credentials.Key = "/root/my keys/$HOME's.pem"
	nodes := nodeFlags{program: "ovn-central-operator nodes", databaseFlags: f}
	gateways := gatewayFlags{databaseFlags: f, program: GatewaysName}
	for printed, words := range map[string][]string{
		nodes.command(act("remove-node", "node", "compute 3 <x>", "i-really-mean-it", "true")): {"ovn-central-operator", "nodes", "remove", "compute 3 <x>", "--nb", "ssl:10.0.0.5:6641", "--private-key", f.credentials.Key, "--yes"},
		gateways.undo("p1"): {GatewaysName, "rebalance", "--revert", "p1", "--nb", "ssl:10.0.0.5:6641", "--private-key", f.credentials.Key, "--yes"},
	} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s\\n' "+printed).Output()
		require.NoError(t, err, printed)
		assert.Equal(t, strings.Join(words, "\n")+"\n", string(out))
	}
}

// A program reads one document on standard output, in the requested form.
func TestAnswer_in_requested_form(t *testing.T) {
	d := map[string]string{"unit": "ovn-central/0"}
	for output, want := range map[string]string{"text": "in words\n", "yaml": "unit: ovn-central/0\n", "json": "{\n  \"unit\": \"ovn-central/0\"\n}\n"} {
		f := databaseFlags{output: output, getenv: func(string) string { return "" }}
		require.NoError(t, f.complete(), output)
		var out bytes.Buffer
		require.NoError(t, show(&out, f.output, d, func(map[string]string) string { return "in words" }))
		assert.Equal(t, want, out.String())
	}
}

// S15: the printed command names the node or hold of another client, with any name, and does nothing else.
func TestGateways_printed_commands_name_databases(t *testing.T) {
	t.Parallel()
	for _, name := range shelltest.Hostile {
		f := nodeFlags{program: "ovn-central-operator nodes", databaseFlags: databaseFlags{typed: [][2]string{{"--nb", "unix:" + name}}}}
		words := shelltest.Words(t, f.command(act("release", "node", "chassis:"+name, "name", name, "i-really-mean-it", "true", "dry-run", "true")))
		require.Equal(t, []string{"ovn-central-operator", "nodes", "release"}, words[:3])
		flags := pflag.NewFlagSet("release", pflag.ContinueOnError)
		nb, yes, dry := flags.String("nb", "", ""), flags.Bool("yes", false, ""), flags.Bool("dry-run", false, "")
		require.NoError(t, flags.Parse(words[3:]), "%q", words)
		assert.Equal(t, []string{"chassis:" + name, name}, flags.Args())
		assert.Equal(t, "unix:"+name, *nb)
		assert.True(t, *yes && *dry)
	}
	f := nodeFlags{program: "ovn-central-operator nodes"}
	assert.Equal(t, "ovn-central-operator nodes uncordon --yes -- --yes", f.command(act("uncordon", "node", "--yes", "i-really-mean-it", "true")))
}

// act is an action with pairs of a parameter and its value.
func act(name string, given ...string) command.Command {
	c := command.Command{Action: name}
	for pair := range slices.Chunk(given, 2) {
		c.Params = append(c.Params, command.Param{Key: pair[0], Value: pair[1]})
	}
	return c
}
