package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// nodeFlags are the flags of commands on nodes.
type nodeFlags struct {
	databaseFlags
	node.Request
	// program is the text before a typed command.
	program string
}

// newNodes makes the commands on nodes.
func newNodes(program string, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{
		Use:   "nodes",
		Short: "Show nodes, drain them and put them back",
		Long: `See what is on each chassis, keep new gateways off it, and say what holds it.
A node is named by its host name or by the name of its chassis: as chassis:NAME, if
that is the host name of another node, too. The databases are those that --nb and
--sb name, else those of this machine.`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{pageKey: "how-to/take-a-node-out"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := nodeFlags{program: program, databaseFlags: databaseFlags{getenv: getenv}}
	f.add(c)
	c.PersistentPreRunE = refuseEmpty
	c.AddCommand(
		f.readOnly("list", "List every node: whether it responds, what it hosts, what holds it", cobra.NoArgs),
		f.readOnly("show NODE", "Show one node, with all of its holds", cobra.ExactArgs(1)),
		f.addReason(f.operation("cordon NODE", "Schedule no new gateways on a node; what it hosts stays", cobra.ExactArgs(1),
			(*node.Service).Cordon)),
		f.operation("uncordon NODE", "Let a node take new gateways again", cobra.ExactArgs(1),
			(*node.Service).Uncordon),
		f.hold(),
		f.operation("release NODE NAME", "Release a hold that was set", cobra.ExactArgs(2),
			(*node.Service).Release),
		f.drain(), f.undrain(), f.decommission(), f.remove(),
	)
	return c
}

// operation is an operation on a node.
type operation func(*node.Service, context.Context, node.Request) answer.Status

// addReason adds the flag for the reason of an operation.
func (f *nodeFlags) addReason(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&f.Reason, "reason", "", "why, for others to read")
	return c
}

// addConfirmation adds the flags of an operation that is confirmed or only shown.
func (f *nodeFlags) addConfirmation(c *cobra.Command, confirms string) {
	c.Flags().BoolVar(&f.DryRun, "dry-run", false, "only say what would be done")
	c.Flags().BoolVar(&f.Confirmed, "yes", false, confirms)
}

// addLimits adds the limits of a drain.
func (f *nodeFlags) addLimits(c *cobra.Command) {
	secondsVar(c.Flags(), &f.Limits.Timeout, "timeout", maintenance.DefaultTimeout, "how long a drain waits at most")
	secondsVar(c.Flags(), &f.Limits.Grace, "grace-period", maintenance.DefaultGrace,
		"how long to wait for what holds the node to go away; less than timeout (default half of it, at most 30m0s)")
	c.Flags().Lookup("grace-period").DefValue = ""
}

// hold makes the command that sets a hold.
func (f *nodeFlags) hold() *cobra.Command {
	c := f.addReason(f.operation("hold NODE NAME",
		"Keep a node from being removed, and its drain from ending, until a release", cobra.ExactArgs(2),
		(*node.Service).Hold))
	c.Long = `Keep a node from being removed, and its drain from ending, until a release. A drain
of the node moves its gateways at once, and then waits for the release.`
	return c
}

// drain makes the command that empties a node.
func (f *nodeFlags) drain() *cobra.Command {
	c := f.addReason(f.operation("drain NODE", "Move every gateway off a node, and wait until the node is empty",
		cobra.ExactArgs(1), (*node.Service).Drain))
	c.Long = `Move every gateway off a node, and wait until the node is empty. Gateways move at
once; then the drain waits for virtual machines and for holds.`
	f.addLimits(c)
	f.addConfirmation(c, interrupts)
	return c
}

// interrupts is what the confirmation of a drain or an undrain is for.
const interrupts = "confirm that traffic may be interrupted"

// decommission makes the command that retires a node.
func (f *nodeFlags) decommission() *cobra.Command {
	c := f.addReason(f.operation("decommission NODE",
		"Empty a node for good: drain it, and take it out of all lists of candidates", cobra.ExactArgs(1),
		(*node.Service).Decommission))
	c.Long = `Empty a node for good: drain it, and take it out of all lists of candidates.
This command cannot tell which units of the charm are on its machine, nor the state
of the clusters without them: where the charm is deployed, run:
juju run ovn-central/leader decommission node=NODE`
	f.addLimits(c)
	secondsVar(c.Flags(), &f.Clear, "clear-labels-timeout", node.DefaultClearTimeout,
		"how long to wait at most until it is out of the candidates")
	f.addConfirmation(c, "confirm it")
	c.Flags().BoolVar(&f.Force, "force", false,
		"where its ovn-controller is proved unreachable for 180 s: take its ports off it")
	return c
}

// remove makes the command that deletes a node.
func (f *nodeFlags) remove() *cobra.Command {
	c := f.operation("remove NODE", "Delete a dead node's chassis that nothing holds and no gateway refers to",
		cobra.ExactArgs(1), (*node.Service).Remove)
	f.addConfirmation(c, "confirm it")
	return c
}

// undrain makes the command that makes a node usable again.
func (f *nodeFlags) undrain() *cobra.Command {
	c := f.operation("undrain NODE", "Put a node back: its gateways' ranks are as before the drain", cobra.ExactArgs(1),
		(*node.Service).Undrain)
	secondsVar(c.Flags(), &f.Wait, "wait", gateway.DefaultWait,
		"how long to wait for ovn-controller, and for gateways to be bound as expected; 0 skips verification")
	f.addConfirmation(c, interrupts)
	return c
}

// example is a command line that works.
func (f *nodeFlags) example(use string) string {
	verb, _, _ := strings.Cut(use, " ")
	flags := ""
	if confirms(verb) {
		flags = " --yes"
	}
	return "  " + f.program + " " + strings.NewReplacer("NODE", "compute-3", "NAME", "ovn-bgp-agent").Replace(use) + flags
}

// confirms reports whether an operation takes --yes.
func confirms(verb string) bool {
	return slices.Contains([]string{"drain", "undrain", "decommission", "remove"}, verb)
}

// readOnly makes a command that changes nothing.
func (f *nodeFlags) readOnly(use, short string, args cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: f.example(use), Args: args, ValidArgsFunction: f.completion(use),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "" {
				_, refused := maintenance.Resolve(nil, "") // for List an empty name means all
				return f.answer(cmd, *refused)
			}
			if err := f.complete(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), gatewaysTimeout)
			defer cancel()
			s, end := f.service(cmd, io.Discard)
			report, refused := s.List(ctx, strings.Join(args, ""))
			end()
			if refused != nil {
				return f.answer(cmd, *refused)
			}
			return show(cmd.OutOrStdout(), f.output, report, document.Nodes)
		},
	}
}

// operation makes a command that ends with an answer.
func (f *nodeFlags) operation(use, short string, args cobra.PositionalArgs,
	operate operation,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: f.example(use), Args: args, ValidArgsFunction: f.completion(use),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.complete(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), node.Timeout, fmt.Errorf("timed out after %s", node.Timeout))
			defer cancel()
			s, end := f.service(cmd, f.progress(cmd))
			r := f.Request
			if r.Node = args[0]; len(args) > 1 {
				r.Hold = args[1]
			}
			if !cmd.Flags().Changed("grace-period") {
				r.Limits.Grace = maintenance.GraceFor(r.Limits.Timeout)
			}
			status := operate(s, ctx, r)
			end()
			return f.answer(cmd, status)
		},
	}
}

func (f *nodeFlags) service(cmd *cobra.Command, progress io.Writer) (s *node.Service, end func()) {
	gateways, end := f.databaseFlags.service(cmd, progress)
	return &node.Service{Gateways: gateways, Command: f.command}, end
}

// command is the next command for an operation on a node. Arguments from another client that begin with a dash, such as
// a hold, go after all flags.
func (f *nodeFlags) command(c command.Command) string {
	var names, flags []string
	for _, p := range c.Params {
		switch {
		case p.Key == "node", p.Key == "name":
			names = append(names, p.Value)
		case p.Key == "i-really-mean-it":
			flags = append(flags, "--yes")
		case p.Value == "true":
			flags = append(flags, "--"+p.Key)
		default:
			flags = append(flags, "--"+p.Key, p.Value)
		}
	}
	words := []string{strings.TrimSuffix(c.Action, "-node")}
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "-") }) {
		words = slices.Concat(words, f.words(), flags, []string{"--"}, names)
	} else {
		words = slices.Concat(words, names, f.words(), flags)
	}
	return typed(f.program, words)
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
