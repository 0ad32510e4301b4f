package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
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

// completion completes the name of a node, if a command takes one.
func (f *nodeFlags) completion(use string) cobra.CompletionFunc {
	if !strings.Contains(use, " NODE") {
		return cobra.NoFileCompletions
	}
	return first(f.names)
}

// names are the nodes.
func (f *nodeFlags) names(ctx context.Context, cmd *cobra.Command) (all []string) {
	if f.complete() != nil {
		return nil
	}
	s, end := f.service(cmd, io.Discard)
	defer end()
	report, _ := s.List(ctx, "")
	for _, n := range report.Nodes {
		all = append(all, n.Typed())
	}
	return all
}

// plans are the plans of the history.
func (f *gatewayFlags) plans(ctx context.Context, cmd *cobra.Command) (all []string) {
	history, _ := ask(ctx, cmd, f, func(ctx context.Context, s *gateway.Service) (gateway.History, error) {
		return s.History(ctx, "")
	})
	for _, p := range history.Plans {
		all = append(all, p.ID+"\t"+p.Operation+" "+p.At.Format(time.DateTime))
	}
	return all
}

// networkNames are the provider networks.
func (f *gatewayFlags) networkNames(ctx context.Context, cmd *cobra.Command) (all []string) {
	status, _ := ask(ctx, cmd, f, func(ctx context.Context, s *gateway.Service) (schedule.Status, error) {
		return s.Status(ctx, schedule.Options{})
	})
	for _, n := range status.Networks {
		all = append(all, n.Name)
	}
	return all
}
