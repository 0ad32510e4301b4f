package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// newGateways are the commands on gateways.
func newGateways(program string, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{
		Use:   "gateways",
		Short: "See and move the gateways of routers",
		Long: `See where the gateways of routers are and should be, and move them: in the databases
that --nb and --sb name, else in those of this machine.`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{pageKey: "how-to/spread-gateways"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := gatewayFlags{program: program, databaseFlags: databaseFlags{getenv: getenv}}
	f.databaseFlags.add(c)
	c.PersistentPreRunE = refuseEmpty
	c.AddCommand(newGatewaysStatus(&f), newPlan(&f), newReschedule(&f), newRebalance(&f), newGatewaysHistory(&f),
		newRevisions(&f))
	return c
}

func newGatewaysStatus(f *gatewayFlags) *cobra.Command {
	var exitCode bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how gateways are spread, what is wrong, and what would fix it",
		Example: "  " + f.program + " status --nb ssl:10.0.0.5:6641 --sb ssl:10.0.0.5:6642 --private-key key.pem " +
			"--certificate cert.pem --ca-cert ca.pem\n" +
			"  " + f.program + " status --exit-code >/dev/null || echo look at the gateways",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := report(cmd, f, document.Gateways,
				func(ctx context.Context, s *gateway.Service) (schedule.Status, error) {
					return s.Status(ctx, f.Options)
				})
			if err == nil && exitCode && slices.ContainsFunc(status.Findings, isProblem) {
				err = shownError{errProblems}
			}
			return err
		},
	}
	f.addNetworks(c)
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 3 if there are warnings or errors")
	return c
}

// isProblem reports whether a finding is more than information.
func isProblem(f finding.Finding) bool { return f.Severity != finding.Info }

func newReschedule(f *gatewayFlags) *cobra.Command {
	c := &cobra.Command{
		Use:     "reschedule",
		Short:   "Give every gateway all the candidates it can have; working gateways do not move",
		Example: "  " + f.program + " reschedule --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, (*gateway.Service).Reschedule)
		},
	}
	f.addChange(c)
	f.addScheduling(c.Flags())
	offer(c, "scheduler", fixed(string(schedule.LeastLoaded), string(schedule.Random)))
	return c
}

func newRebalance(f *gatewayFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "rebalance",
		Short: "Move gateways from chassis that host many to those that host few",
		Long: `Move gateways from chassis that host many of a provider network to those that
host few. Each gateway that moves is interrupted for about a second, so this needs
--yes.`,
		Example: "  " + f.program + " rebalance --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, (*gateway.Service).Rebalance)
		},
	}
	f.addChange(c)
	f.addMoving(c.Flags())
	c.Flags().StringVar(&f.Revert, "revert", "", "revert what this plan changed (see history)")
	c.Flags().StringVar((*string)(&f.Target), "target-revision", "",
		"bring back this layout: successful-site-action, last-site-action or an ID (see revisions)")
	offer(c, "revert", f.plans)
	offer(c, "target-revision", fixed(string(journal.Successful), string(journal.Last)))
	return c
}

func newGatewaysHistory(f *gatewayFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "history [PLAN]",
		Short:   "List what was changed, with times and authors; for one plan, each gateway before and after",
		Example: "  " + f.program + " history",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: first(f.plans),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := report(cmd, f, document.History,
				func(ctx context.Context, s *gateway.Service) (gateway.History, error) {
					return s.History(ctx, strings.Join(args, ""))
				})
			return err
		},
	}
}
