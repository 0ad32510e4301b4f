package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// gatewaysTimeout limits a whole command on gateways.
const gatewaysTimeout = 30 * time.Minute

// gatewayFlags are the flags of commands on gateways.
type gatewayFlags struct {
	databaseFlags
	gateway.Request
	// program is the text before a typed command.
	program string
	// drawn receives a plan to draw; nil draws none.
	drawn func(schedule.Plan) error
}

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

// addNetworks adds the flag that restricts a command to some provider networks.
func (f *gatewayFlags) addNetworks(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.Options.Networks, "network", nil,
		"only gateways of this provider network; can be repeated")
	offer(c, "network", f.networkNames)
}

// addChange adds the flags of commands that change something.
func (f *gatewayFlags) addChange(c *cobra.Command) {
	f.addNetworks(c)
	flags := c.Flags()
	flags.BoolVar(&f.DryRun, "dry-run", false, "show the plan and change nothing")
	flags.BoolVar(&f.Confirmed, "yes", false, "confirm that gateways may be interrupted")
	secondsVar(flags, &f.Wait, "wait", gateway.DefaultWait,
		"how long to wait for gateways to be bound as expected; 0 skips verification")
	flags.StringVar(&f.ReviewID, "review-id", "", "carry out only the plan that a dry run showed with this ID")
	flags.BoolVar(&f.AllowIntermediate, "allow-intermediate-commits", false,
		"skip the check of --review-id, and say what it would have refused")
}

// addScheduling adds the flags for a reschedule.
func (f *gatewayFlags) addScheduling(flags *pflag.FlagSet) {
	flags.StringVar((*string)(&f.Options.Scheduler), "scheduler", string(schedule.LeastLoaded),
		"scheduler for reschedule: least-loaded or random")
	flags.Uint64Var(&f.Seed, "seed", 1, "seed for the random scheduler; the same seed gives the same plan")
}

// addMoving adds the flags for a rebalancing.
func (f *gatewayFlags) addMoving(flags *pflag.FlagSet) {
	flags.IntVar(&f.Options.MaxMoves, "max-moves", 0, "move at most this many gateways; 0 means no limit")
	flags.BoolVar(&f.Options.AllowNewCandidates, "allow-new-candidates", false,
		"also move gateways to chassis that are not candidates yet")
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
			if err == nil && exitCode && len(status.Findings) > 0 {
				err = shownError{errProblems}
			}
			return err
		},
	}
	f.addNetworks(c)
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 3 if there are problems")
	return c
}

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

// complete sets defaults, and returns what is wrong with the flags.
func (f *gatewayFlags) complete() error {
	if err := f.databaseFlags.complete(); err != nil {
		return err
	}
	switch {
	case f.Options.MaxMoves < 0:
		return usageError{fmt.Errorf("--max-moves %d is less than 0", f.Options.MaxMoves)}
	case f.Wait < 0:
		return usageError{fmt.Errorf("--wait %s is less than 0", f.Wait)}
	case !slices.Contains([]schedule.Scheduler{"", schedule.LeastLoaded, schedule.Random}, f.Options.Scheduler):
		return usageError{fmt.Errorf("--scheduler %q is neither %s nor %s", f.Options.Scheduler, schedule.LeastLoaded,
			schedule.Random)}
	}
	return nil
}

// ask reads the databases.
func ask[T any](ctx context.Context, cmd *cobra.Command, f *gatewayFlags,
	question func(context.Context, *gateway.Service) (T, error),
) (answer T, err error) {
	if err := f.complete(); err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, gatewaysTimeout)
	defer cancel()
	s, end := f.service(cmd, io.Discard)
	defer end()
	return question(ctx, s)
}

// report shows a document about the databases.
func report[T any](cmd *cobra.Command, f *gatewayFlags, text func(T) string,
	question func(context.Context, *gateway.Service) (T, error),
) (T, error) {
	found, err := ask(cmd.Context(), cmd, f, question)
	if err == nil {
		err = show(cmd.OutOrStdout(), f.output, found, text)
	}
	return found, err
}

// run shows a plan and carries it out.
func (f *gatewayFlags) run(cmd *cobra.Command,
	prepare func(*gateway.Service, context.Context, gateway.Request) (*gateway.Operation, error),
) error {
	if err := f.complete(); err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") && f.Options.Scheduler != schedule.Random {
		return usageError{fmt.Errorf("--seed is for --scheduler %s", schedule.Random)}
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), gatewaysTimeout,
		fmt.Errorf("timed out after %.0fm", gatewaysTimeout.Minutes()))
	defer cancel()
	progress := f.progress(cmd)
	s, end := f.service(cmd, progress)
	defer end()
	operation, err := prepare(s, ctx, f.Request)
	if err == nil && f.drawn != nil {
		err = f.drawn(operation.Plan)
	}
	if err == nil {
		err = show(cmd.OutOrStdout(), f.output, operation.Plan, document.Plan)
	}
	if err == nil {
		err = operation.Apply(ctx)
	}
	end()
	var unproved *gateway.UnprovedError
	var refused *answer.RefusedError
	switch {
	case errors.As(err, &refused):
		return f.answer(cmd, refused.Status)
	case finding.Has(finding.Reasons(err), finding.WouldInterrupt):
		return usageError{fmt.Errorf("%w; confirm with --yes: %s", err, f.again(cmd))}
	case errors.As(err, &unproved) && !finding.Has(unproved.Findings, finding.NewHostSilent):
		for _, line := range present.Messages(unproved.Findings) {
			fmt.Fprintln(progress, line)
		}
		return fmt.Errorf("%w; run: %s", err, typed(f.program, append([]string{"status"}, f.words()...)))
	}
	return err
}

// service also prints commands. Call end before anything else is printed, and in the end.
func (f *gatewayFlags) service(cmd *cobra.Command, progress io.Writer) (s *gateway.Service, end func()) {
	s, end = f.databaseFlags.service(cmd, progress)
	s.Undo = f.undo
	s.DryRun = func(operation string) string {
		return typed(f.program, append(append([]string{operation}, f.words()...), "--dry-run"))
	}
	return s, end
}

// again is the typed command, with a confirmation.
func (f *gatewayFlags) again(cmd *cobra.Command) string {
	words := []string{cmd.Name()}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+flag.Name+"="+value)
		}
	})
	return typed(f.program, append(words, "--yes"))
}

// undo is the command that reverts a plan.
func (f *gatewayFlags) undo(plan string) string {
	return typed(f.program, append(append([]string{"rebalance", "--revert", plan}, f.words()...), "--yes"))
}
