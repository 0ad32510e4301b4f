package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// seconds is a duration flag: a plain number means seconds, as in the actions' parameters, so that values can be copied
// from one to the other.
type seconds time.Duration

func (s *seconds) String() string { return time.Duration(*s).String() }

// Type returns the name of the value in --help.
func (s *seconds) Type() string { return "duration" }

// Set accepts 90, 90s or 1m30s.
func (s *seconds) Set(text string) error {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		*s = seconds(time.Duration(n) * time.Second) //nolint:gosec // 31 bits
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("it must be a number of seconds, or such as 90s, 15m, 1h30m")
	}
	*s = seconds(d)
	return nil
}

// secondsVar defines a duration flag.
func secondsVar(flags *pflag.FlagSet, d *time.Duration, name string, value time.Duration, usage string) {
	*d = value
	flags.Var((*seconds)(d), name, usage)
}

// completionTimeout is how long a shell waits for values from the databases.
const completionTimeout = 2 * time.Second

// fixed completes values that are always the same.
func fixed(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// found completes values from the databases; each may have a description after a tab.
func found(find func(cmd *cobra.Command) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		cmd.SetContext(ctx)
		return find(cmd), cobra.ShellCompDirectiveNoFileComp
	}
}

// first completes the first argument only.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, begun)
	}
}

// files completes names of files.
func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// directories completes names of directories.
func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// offer makes a shell complete the value of a flag.
func offer(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}
