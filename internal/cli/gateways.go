package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/picture"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// newGateways makes the commands on gateways.
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
	f := gatewayFlags{databaseFlags: databaseFlags{program: program, getenv: getenv}}
	f.databaseFlags.add(c)
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

// isProblem reports whether a finding is more severe than information.
func isProblem(f finding.Finding) bool { return f.Severity != finding.Info }

func newReschedule(f *gatewayFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "reschedule",
		Short: "Give every gateway all the candidates it can have; working gateways do not move",
		Long: `Give every gateway all the candidates it can have. Working gateways do not move,
but for those on a chassis that may not host them: that needs --yes.`,
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
		"bring back this layout: successful-site-action, last-site-action or the ID of an operation (see revisions)")
	offer(c, "revert", found(f.plans))
	offer(c, "target-revision", f.layouts(journal.Successful, journal.Last))
	return c
}

func newGatewaysHistory(f *gatewayFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "history [PLAN]",
		Short:   "List what was changed, with times and authors; for one plan, each gateway before and after",
		Example: "  " + f.program + " history",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: first(found(f.plans)),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := report(cmd, f, document.History,
				func(ctx context.Context, s *gateway.Service) (gateway.History, error) {
					return s.History(ctx, strings.Join(args, ""))
				})
			return err
		},
	}
}

// newPlan makes the command that shows the effects of the changing commands, and can draw them.
func newPlan(f *gatewayFlags) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "plan [rebalance|reschedule]",
		Short: "Show what a rebalancing or a reschedule would change, and draw it; change nothing",
		Long: `Show what a rebalancing, or a reschedule, would change, and change nothing. With
--picture it is drawn as well: chassis as columns, the gateways that change as rows
with their ranks before and after, and an arrow for each that moves.`,
		Example:   "  " + f.program + " plan rebalance --picture plan.svg",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"rebalance", "reschedule"},
		RunE: func(cmd *cobra.Command, args []string) error {
			verb := append(args, "rebalance")[0]
			operate, own, others := (*gateway.Service).Rebalance, (*gatewayFlags).addMoving, (*gatewayFlags).addScheduling
			if verb == "reschedule" {
				operate, own, others = (*gateway.Service).Reschedule, others, own
			}
			for _, name := range flagsOf(others) {
				if cmd.Flags().Changed(name) {
					return usageErrorf("plan %s takes --%s, not --%s", verb, strings.Join(flagsOf(own), " and --"), name)
				}
			}
			f.DryRun = true
			if cmd.Flags().Changed("picture") {
				if err := checkPicture(file); err != nil {
					return err
				}
				f.drawn = func(p schedule.Plan) error { return draw(file, p) }
			}
			if err := f.run(cmd, operate); err != nil || f.drawn == nil {
				return err
			}
			fmt.Fprintln(f.progress(cmd), "the picture is in "+file)
			return nil
		},
	}
	f.addNetworks(c)
	f.addMoving(c.Flags())
	f.addScheduling(c.Flags())
	offer(c, "scheduler", fixed(string(schedule.LeastLoaded), string(schedule.Random)))
	c.Flags().StringVar(&file, "picture", "", "write a picture of the plan to this file, as SVG")
	offer(c, "picture", files)
	return c
}

// flagsOf returns the names of the added flags.
func flagsOf(add func(*gatewayFlags, *pflag.FlagSet)) (names []string) {
	var flags pflag.FlagSet
	add(new(gatewayFlags), &flags)
	flags.VisitAll(func(x *pflag.Flag) { names = append(names, x.Name) })
	return names
}

// checkPicture refuses a name that is no file for a picture: the text goes to standard output, and a leading dash is
// the next flag.
func checkPicture(file string) error {
	if strings.HasPrefix(file, "-") || filepath.Ext(file) != ".svg" {
		return usageErrorf("--picture takes the name of a file, such as plan.svg")
	}
	return nil
}

func draw(file string, p schedule.Plan) error {
	// Writing a new file would replace a device or a pipe such as /dev/stdout.
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return usageErrorf("--picture %q exists and is not a regular file", file)
	}
	if _, err := atomicfile.WriteIfChanged(file, picture.SVG(p), 0o644); err != nil {
		return fmt.Errorf("cannot draw the plan: %w", err)
	}
	return nil
}

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
				return usageErrorf("--plan %q is neither rebalance nor reschedule", plan)
			}
			found, err := ask(cmd, f, func(ctx context.Context, s *gateway.Service) (answer.Status, error) {
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
		"compare this with diff: committed (the default with --diff), successful-site-action, last-site-action or an ID")
	c.Flags().StringVar(&diff, "diff", "",
		"compare base with this: plan (the default with --base), or what --base takes")
	c.Flags().StringVar(&plan, "plan", "rebalance", "which plan --diff plan is: rebalance or reschedule")
	f.addNetworks(c)
	offer(c, "base", f.layouts(journal.Committed, journal.Successful, journal.Last))
	offer(c, "diff", f.layouts(journal.Planned, journal.Committed, journal.Successful, journal.Last))
	offer(c, "plan", fixed("rebalance", "reschedule"))
	return c
}
