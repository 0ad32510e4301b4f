package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
)

// newRevisions makes the command that lists layouts, or compares two.
func newRevisions(f *gatewayFlags) *cobra.Command {
	var base, diff, plan string
	c := &cobra.Command{
		Use:   "revisions",
		Short: "List the layouts that operations have left behind, or compare two",
		Long: `List the layouts that operations on gateways and nodes have left behind, or compare
two. A revision is which chassis host each gateway, in which order, and which chassis
are cordoned. Without --base and --diff, revisions are listed.`,
		Example: "  " + f.program + " revisions --base successful-site-action --diff committed",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plan != "rebalance" && plan != "reschedule" {
				return usageError{fmt.Errorf("--plan %q is neither rebalance nor reschedule", plan)}
			}
			found, err := ask(cmd.Context(), cmd, f, func(ctx context.Context, s *gateway.Service) (answer.Status, error) {
				return s.Revisions(ctx, gateway.RevisionsRequest{
					Base: journal.Version(base), Diff: journal.Version(diff), Reschedule: plan == "reschedule",
					Options: f.Options,
				}), nil
			})
			if err != nil {
				return err
			}
			return f.answer(cmd, found)
		},
	}
	c.Flags().StringVar(&base, "base", "",
		"compare this with diff: committed (the default with --diff), successful-site-action or last-site-action")
	c.Flags().StringVar(&diff, "diff", "",
		"compare base with this: plan (the default with --base), committed, successful-site-action or last-site-action")
	c.Flags().StringVar(&plan, "plan", "rebalance", "which plan --diff plan is: rebalance or reschedule")
	f.addNetworks(c)
	offer(c, "base", fixed(string(journal.Committed), string(journal.Successful), string(journal.Last)))
	offer(c, "diff", fixed(string(journal.Planned), string(journal.Committed), string(journal.Successful),
		string(journal.Last)))
	offer(c, "plan", fixed("rebalance", "reschedule"))
	return c
}
