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
	f := nodeFlags{databaseFlags: databaseFlags{program: program, getenv: getenv}}
	f.add(c)
	cordon := f.operation("cordon NODE", "Schedule no new gateways on a node; what it hosts stays", (*node.Service).Cordon)
	f.addReason(cordon)
	release := f.operation("release NODE NAME", "Release a hold that was set", (*node.Service).Release)
	release.ValidArgsFunction = f.completeHold
	c.AddCommand(
		f.show("list", "List every node: when it last answered, what it hosts, what holds it"),
		f.show("show NODE", "Show one node, with all of its holds"),
		cordon,
		f.operation("uncordon NODE", "Let a node take new gateways again", (*node.Service).Uncordon),
		f.hold(),
		release,
		f.drain(), f.undrain(), f.decommission(), f.remove(),
	)
	return c
}

// addReason adds the flag for the reason of an operation.
func (f *nodeFlags) addReason(c *cobra.Command) {
	c.Flags().StringVar(&f.Reason, "reason", "", "why, for others to read")
}

// addConfirmation adds the flags of an operation that is confirmed or only shown.
func (f *nodeFlags) addConfirmation(c *cobra.Command, confirms string) {
	c.Example += " --yes"
	c.Flags().BoolVar(&f.DryRun, "dry-run", false, "only say what would be done")
	c.Flags().BoolVar(&f.Confirmed, "yes", false, confirms)
}

// interrupts describes the confirmation of a drain, an undrain or a decommission.
const interrupts = "confirm that traffic may be interrupted"

// addLimits adds the limits of a drain.
func (f *nodeFlags) addLimits(c *cobra.Command) {
	secondsVar(c.Flags(), &f.Limits.Timeout, "timeout", maintenance.DefaultTimeout, "how long a drain waits at most")
	secondsVar(c.Flags(), &f.Limits.Grace, "grace-period", maintenance.DefaultGrace,
		"how long to wait for what holds the node to go away; less than timeout (default half of it, at most 30m0s)")
	c.Flags().Lookup("grace-period").DefValue = ""
}

func (f *nodeFlags) hold() *cobra.Command {
	c := f.operation("hold NODE NAME", "Keep a node from being removed, and its drain from ending, until a release",
		(*node.Service).Hold)
	c.Long = `Keep a node from being removed, and its drain from ending, until a release. A drain
of the node moves its gateways at once, and then waits for the release.`
	f.addReason(c)
	return c
}

func (f *nodeFlags) drain() *cobra.Command {
	c := f.operation("drain NODE", "Move every gateway off a node, and wait until the node is empty",
		(*node.Service).Drain)
	c.Long = `Move every gateway off a node, and wait until the node is empty. Gateways move at
once; then the drain waits for virtual machines and for holds.`
	f.addReason(c)
	f.addLimits(c)
	f.addConfirmation(c, interrupts)
	return c
}

func (f *nodeFlags) undrain() *cobra.Command {
	c := f.operation("undrain NODE", "Put a node back: its gateways' ranks are as before the drain",
		(*node.Service).Undrain)
	secondsVar(c.Flags(), &f.Wait, "wait", gateway.DefaultWait,
		"how long to wait for ovn-controller, and for gateways to be bound as expected; 0 skips verification")
	f.addConfirmation(c, interrupts)
	return c
}

func (f *nodeFlags) decommission() *cobra.Command {
	c := f.operation("decommission NODE",
		"Empty a node for good: drain it, and take it out of all lists of candidates", (*node.Service).Decommission)
	c.Long = `Empty a node for good: drain it, and take it out of all lists of candidates.
This command cannot tell which units of the charm are on its machine, nor the state
of the clusters without them: if the charm is deployed, run:
juju run ovn-central/leader decommission node=NODE`
	f.addReason(c)
	f.addLimits(c)
	secondsVar(c.Flags(), &f.Clear, "clear-labels-timeout", node.DefaultClearTimeout,
		"how long to wait until it is out of the candidates")
	f.addConfirmation(c, interrupts)
	c.Flags().BoolVar(&f.Force, "force", false,
		"if its ovn-controller is proved unreachable for 180 s, take its ports off it")
	return c
}

func (f *nodeFlags) remove() *cobra.Command {
	c := f.operation("remove NODE", "Delete a dead node's chassis that nothing holds and no gateway refers to",
		(*node.Service).Remove)
	f.addConfirmation(c, "confirm the deletion")
	return c
}

// command makes a command with the arguments in use.
func (f *nodeFlags) command(use, short string, run func(*cobra.Command, []string) error) *cobra.Command {
	typed := strings.NewReplacer("NODE", "compute-3", "NAME", "ovn-bgp-agent").Replace(use)
	c := &cobra.Command{
		Use: use, Short: short, Example: "  " + f.program + " " + typed, Args: cobra.ExactArgs(strings.Count(use, " ")),
		RunE: run, ValidArgsFunction: cobra.NoFileCompletions,
	}
	if strings.Contains(use, " NODE") {
		c.ValidArgsFunction = first(found(f.names))
	}
	return c
}

// show makes a command that changes nothing.
func (f *nodeFlags) show(use, short string) *cobra.Command {
	return f.command(use, short, func(cmd *cobra.Command, args []string) error {
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
	})
}

// operation makes a command whose result is an answer.
func (f *nodeFlags) operation(use, short string,
	operate func(*node.Service, context.Context, node.Request) answer.Status,
) *cobra.Command {
	return f.command(use, short, func(cmd *cobra.Command, args []string) error {
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
	})
}

func (f *nodeFlags) service(cmd *cobra.Command, progress io.Writer) (s *node.Service, end func()) {
	gateways, end := f.databaseFlags.service(cmd, progress)
	return &node.Service{Gateways: gateways, Command: f.next}, end
}

// next returns the next command for an operation on a node. Arguments from another client that begin with a dash,
// such as a hold, go after all flags.
func (f *nodeFlags) next(c command.Command) string {
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
	operation := []string{strings.TrimSuffix(c.Action, "-node")}
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "-") }) {
		return f.line(operation, f.words(), flags, []string{"--"}, names)
	}
	return f.line(operation, names, f.words(), flags)
}

// completeHold completes a node, and then a hold that was set on it.
func (f *nodeFlags) completeHold(cmd *cobra.Command, args []string, begun string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return first(found(f.names))(cmd, args, begun)
	}
	return found(func(cmd *cobra.Command) (all []string) {
		for _, n := range f.nodes(cmd, args[0]) {
			for _, h := range n.Holds {
				if !h.Derived {
					all = append(all, h.Name)
				}
			}
		}
		return all
	})(cmd, args, begun)
}

// names returns the nodes.
func (f *nodeFlags) names(cmd *cobra.Command) (all []string) {
	for _, n := range f.nodes(cmd, "") {
		all = append(all, n.Typed())
	}
	return all
}

// nodes returns one node, or all if the name is empty; none if the databases can't be read.
func (f *nodeFlags) nodes(cmd *cobra.Command, name string) []maintenance.Node {
	if f.complete() != nil {
		return nil
	}
	s, end := f.service(cmd, io.Discard)
	defer end()
	report, refused := s.List(cmd.Context(), name)
	if refused != nil {
		return nil
	}
	return report.Nodes
}
