package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completionTimeout is how long a shell waits for values that are in the databases.
const completionTimeout = 2 * time.Second

// values are what a shell offers for an argument or a flag; each may have a description after a tab.
type values func(ctx context.Context, cmd *cobra.Command) []string

// fixed are values that are always the same.
func fixed(all ...string) values {
	return func(context.Context, *cobra.Command) []string { return all }
}

// offer has a shell complete the value of a flag.
func offer(c *cobra.Command, flag string, find values) {
	err := c.RegisterFlagCompletionFunc(flag,
		func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return complete(cmd, find), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// first has a shell complete the first argument.
func first(find values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, find), cobra.ShellCompDirectiveNoFileComp
	}
}

func complete(cmd *cobra.Command, find values) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	return find(ctx, cmd)
}
