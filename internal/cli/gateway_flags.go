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

// plans returns the plans of the history.
func (f *gatewayFlags) plans(cmd *cobra.Command) (all []string) {
	history, _ := ask(cmd, f, func(ctx context.Context, s *gateway.Service) (gateway.History, error) {
		return s.History(ctx, "")
	})
	for _, p := range history.Plans {
		all = append(all, p.ID+"\t"+p.Operation+" "+p.At.Format(time.DateTime))
	}
	return all
}

// networks returns the names of the provider networks.
func (f *gatewayFlags) networks(cmd *cobra.Command) (all []string) {
	status, _ := ask(cmd, f, func(ctx context.Context, s *gateway.Service) (schedule.Status, error) {
		return s.Status(ctx, schedule.Options{})
	})
	for _, n := range status.Networks {
		all = append(all, n.Name)
	}
	return all
}

// layouts completes these names, and the operations that have left a layout behind.
func (f *gatewayFlags) layouts(names ...journal.Version) cobra.CompletionFunc {
	return found(func(cmd *cobra.Command) (all []string) {
		for _, name := range names {
			all = append(all, string(name))
		}
		listed, _ := ask(cmd, f, func(ctx context.Context, s *gateway.Service) (answer.Status, error) {
			return s.Revisions(ctx, gateway.RevisionsRequest{}), nil
		})
		for _, m := range listed.Details.MessageList {
			if m.Name != string(journal.Committed) {
				all = append(all, cobra.CompletionWithDesc(m.Name, m.Message))
			}
		}
		return all
	})
}

// gatewaysTimeout limits a whole command on gateways.
const gatewaysTimeout = 30 * time.Minute

// gatewayFlags are the flags of commands on gateways.
type gatewayFlags struct {
	databaseFlags
	gateway.Request
	// drawn receives a plan to draw; nil draws none.
	drawn func(schedule.Plan) error
}

// addNetworks adds the flag that restricts a command to some provider networks.
func (f *gatewayFlags) addNetworks(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.Options.Networks, "network", nil,
		"only gateways of this provider network; can be repeated")
	offer(c, "network", found(f.networks))
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

// complete sets defaults, and returns an error for invalid flags.
func (f *gatewayFlags) complete() error {
	if err := f.databaseFlags.complete(); err != nil {
		return err
	}
	switch {
	case f.Options.MaxMoves < 0:
		return usageErrorf("--max-moves %d is less than 0", f.Options.MaxMoves)
	case f.Wait < 0:
		return usageErrorf("--wait %s is less than 0", f.Wait)
	case !slices.Contains([]schedule.Scheduler{"", schedule.LeastLoaded, schedule.Random}, f.Options.Scheduler):
		return usageErrorf("--scheduler %q is neither %s nor %s", f.Options.Scheduler, schedule.LeastLoaded, schedule.Random)
	}
	return nil
}

// ask reads the databases.
func ask[T any](cmd *cobra.Command, f *gatewayFlags,
	question func(context.Context, *gateway.Service) (T, error),
) (answer T, err error) {
	if err := f.complete(); err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), gatewaysTimeout)
	defer cancel()
	s, end := f.service(cmd, io.Discard)
	defer end()
	return question(ctx, s)
}

// report shows a document about the databases.
func report[T any](cmd *cobra.Command, f *gatewayFlags, text func(T) string,
	question func(context.Context, *gateway.Service) (T, error),
) (T, error) {
	found, err := ask(cmd, f, question)
	if err != nil {
		return found, f.failed(cmd, err)
	}
	return found, show(cmd.OutOrStdout(), f.output, found, text)
}

// run shows a plan and carries it out.
func (f *gatewayFlags) run(cmd *cobra.Command,
	prepare func(*gateway.Service, context.Context, gateway.Request) (*gateway.Operation, error),
) error {
	if err := f.complete(); err != nil {
		return err
	}
	if cmd.Flags().Changed("seed") && f.Options.Scheduler != schedule.Random {
		return usageErrorf("--seed is for --scheduler %s", schedule.Random)
	}
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), gatewaysTimeout,
		fmt.Errorf("timed out after %.0fm", gatewaysTimeout.Minutes()))
	defer cancel()
	progress := f.progress(cmd)
	s, end := f.service(cmd, progress)
	defer end()
	operation, err := prepare(s, ctx, f.Request)
	if err != nil {
		end()
		return f.failed(cmd, err)
	}
	if f.DryRun && len(operation.Plan.Changes) > 0 {
		operation.Plan.Next = slices.Insert(operation.Plan.Next, 0, f.reviewed(cmd, operation.Plan))
	}
	if f.drawn != nil {
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
		return fmt.Errorf("%w; confirm with --yes: %s", err, f.again(cmd))
	case errors.As(err, &unproved) && !finding.Has(unproved.Findings, finding.NewHostSilent):
		for _, line := range present.Messages(unproved.Findings) {
			fmt.Fprintln(progress, line)
		}
		return fmt.Errorf("%w; run: %s", err, f.line([]string{"status"}, f.words()))
	}
	return err
}

// service returns a service that also prints commands. Call end before printing anything else, and when done.
func (f *gatewayFlags) service(cmd *cobra.Command, progress io.Writer) (s *gateway.Service, end func()) {
	s, end = f.databaseFlags.service(cmd, progress)
	s.Undo = f.undo
	s.Show = func(plan string) string { return f.line([]string{"history", plan}, f.words()) }
	nodes := nodeFlags{databaseFlags: f.databaseFlags}
	nodes.program = strings.TrimSuffix(f.program, " gateways") + " nodes"
	s.OnNode = nodes.next
	s.DryRun = func(operation string) string {
		words := append([]string{operation}, f.words()...)
		for _, name := range f.Options.Networks {
			words = append(words, "--network", name)
		}
		return f.line(words, []string{"--dry-run"})
	}
	return s, end
}

// again returns the typed command, with a confirmation.
func (f *gatewayFlags) again(cmd *cobra.Command) string {
	return f.line(typed(cmd, cmd.Name()), []string{"--yes"})
}

// reviewed returns the command that carries out a plan that the typed command has shown.
func (f *gatewayFlags) reviewed(cmd *cobra.Command, p schedule.Plan) string {
	name := cmd.Name()
	if name == "plan" {
		name = p.Operation
	}
	more := []string{"--review-id", p.ReviewID}
	if p.Moves() > 0 {
		more = append(more, "--yes")
	}
	return f.line(typed(cmd, name, "dry-run", "picture", "output", "format", "review-id", "yes"), more)
}

// typed returns a command with the typed flags, but not the omitted ones.
func typed(cmd *cobra.Command, name string, omitted ...string) []string {
	words := []string{name}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if slices.Contains(omitted, flag.Name) {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+flag.Name+"="+value)
		}
	})
	return words
}

// undo returns the command that reverts a plan.
func (f *gatewayFlags) undo(plan string) string {
	return f.line([]string{"rebalance", "--revert", plan}, f.words(), []string{"--yes"})
}
