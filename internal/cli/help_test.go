package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

func TestHelp_every_command_has_exit_codes_and_links(t *testing.T) {
	env, _ := prepare(t)
	asked := 0
	eachCommand(t, env, func(cmd *cobra.Command) {
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
	})
	assert.Greater(t, asked, 40)
}
