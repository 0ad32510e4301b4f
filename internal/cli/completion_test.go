package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// A shell offers file names only after the flags that take a file.
func TestCompletion_file_names_only_for_files(t *testing.T) {
	env, _ := prepare(t)
	directives := map[string]string{
		"picture": ":0", "config": ":0", "socket": ":0", "private-key": ":0", "certificate": ":0", "ca-cert": ":0",
		"path": ":16", // a directory
	}
	asked := 0
	// ends checks the last line for a shell, which says what else to offer; 4 means nothing.
	ends := func(want string, line ...string) {
		code, stdout, _ := mainOf(t, env, append([]string{line[0], cobra.ShellCompRequestCmd}, line[1:]...)...)
		asked++
		assert.Zero(t, code, line)
		assert.True(t, strings.HasSuffix(strings.TrimSpace(stdout), want), "%q: %s", line, stdout)
	}
	eachCommand(t, env, func(cmd *cobra.Command) {
		line := strings.Fields(cmd.CommandPath())
		ends(":4", append(line, "")...)
		ends(":4", append(line, "compute-3", "")...)
		visit := func(flag *pflag.Flag) {
			want, found := directives[flag.Name]
			if !found {
				want = ":4"
			}
			if flag.NoOptDefVal == "" { // it takes a value
				ends(want, append(line, "--"+flag.Name, "")...)
			}
		}
		cmd.NonInheritedFlags().VisitAll(visit)
		cmd.InheritedFlags().VisitAll(visit)
	})
	assert.Greater(t, asked, 200)
}

// eachCommand calls do for each command of both programs.
func eachCommand(t *testing.T, env environment, do func(*cobra.Command)) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		do(cmd)
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
}

func TestCompletion_values(t *testing.T) {
	env, _ := prepare(t)
	for line, value := range map[string]string{
		"x hook ":                                   "update-status",
		"x action ":                                 "cluster-status",
		"x agent --mode ":                           "advise",
		"x start-guard ":                            "nb",
		"x help nodes ":                             "drain",
		"x version --output ":                       "yaml",
		"ovn-gateways help ":                        "rebalance",
		"ovn-gateways nodes help ":                  "drain",
		"ovn-gateways plan ":                        "reschedule",
		"ovn-gateways status --format ":             "json",
		"ovn-gateways rebalance --target-revision ": "last-site-action",
		"ovn-gateways revisions --diff ":            "plan",
		"ovn-gateways revisions --plan ":            "reschedule",
		"ovn-gateways reschedule --scheduler ":      "random",
	} {
		words := strings.Split(line, " ")
		_, stdout, _ := mainOf(t, env, append([]string{words[0], cobra.ShellCompRequestCmd}, words[1:]...)...)
		var offered []string
		for l := range strings.Lines(stdout) {
			name, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			offered = append(offered, name)
		}
		assert.Contains(t, offered, value, line)
		assert.Equal(t, ":4", offered[len(offered)-1], line)
	}
}
