package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

func TestHelp_every_command_has_exit_codes_and_links(t *testing.T) {
	env, _ := prepare(t)
	asked := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		line := strings.Fields(cmd.CommandPath())
		code, stdout, _ := mainOf(t, env, append(line, "--help")...)
		asked++
		assert.Zero(t, code, line)
		for _, has := range []string{
			"\nExit status:\n  0  ", "\n  1  ", "\n  2  ", "\n  130  ",
			"\nSee also:\n  Documents   https://", "\n  Problems    https://",
		} {
			assert.Contains(t, stdout, has, line)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	for _, root := range []*cobra.Command{
		cli.Root("ovn-central-operator", env.getenv, t.Output()), cli.Gateways(cli.GatewaysName, env.getenv),
	} {
		root.InitDefaultCompletionCmd()
		walk(root)
	}
	assert.Greater(t, asked, 40)
}
