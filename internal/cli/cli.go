// Package cli is the command tree. It also maps Juju's calls and typed command lines to a command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/action"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
	"github.com/ovn-central/ovn-central-operator/internal/version"
)

const (
	// name is the name of the binary, dispatch the name under which Juju runs it.
	name     = "ovn-central-operator"
	dispatch = "dispatch"
	// GatewaysName is the binary's name on machines without the charm. It then has only the commands that work for any
	// OVN.
	GatewaysName = "ovn-gateways"
)

// Exit codes. Juju only distinguishes 0 from the rest.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitProblems    = 3
	exitInterrupted = 130
)

// usageError marks a command line that can't be understood.
type usageError struct{ error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// shownError marks an error that was already shown: the error of a hook in Juju's log, which also gets its stderr;
// the error of an operation on a node in its answer.
type shownError struct{ error }

func (e shownError) Unwrap() error { return e.error }

// errProblems is the error of `status --exit-code` if there are warnings or errors; these are already shown.
var errProblems = errors.New("there are problems")

// Main runs the command and returns the exit code.
func Main(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	program := append(slices.Clone(args), name)[0]
	root := Root(program, getenv, stderr)
	if filepath.Base(program) == GatewaysName {
		root = Gateways(program, getenv)
	}
	root.SetArgs(append([]string{}, Route(args, getenv)...))
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = misnamed(root)
	}
	if err == nil {
		return exitOK
	}
	switch {
	case errors.As(err, new(shownError)):
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "error: interrupted")
	default:
		fmt.Fprintf(stderr, "error: %s\n", run.Redact(err.Error()))
	}
	switch {
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(refusedStart)):
		return startguard.ExitRefused
	case errors.Is(err, errProblems):
		return exitProblems
	case errors.As(err, new(usageError)) || errors.Is(err, action.ErrUnknown):
		return exitUsage
	}
	return exitFailure
}

// Route maps a call to the arguments of a command. It first uses Juju's JUJU_DISPATCH_PATH ("hooks/stop",
// "actions/kick"), since Juju runs `dispatch` without arguments; then the binary's name, if the binary is in a
// charm's directory of hooks or actions; otherwise the typed arguments.
func Route(args []string, getenv func(string) string) []string {
	if len(args) == 0 {
		return nil
	}
	if len(args) > 1 || filepath.Base(args[0]) == GatewaysName {
		return args[1:]
	}
	for _, path := range []string{getenv("JUJU_DISPATCH_PATH"), args[0]} {
		if kind := filepath.Base(filepath.Dir(path)); kind == "hooks" || kind == "actions" {
			return []string{strings.TrimSuffix(kind, "s"), filepath.Base(path)}
		}
	}
	return nil
}

// Gateways returns the command tree for any OVN. program is the program as typed.
func Gateways(program string, getenv func(string) string) *cobra.Command {
	root := newGateways(program, getenv)
	root.Use = GatewaysName
	root.Short = "See and move the gateways of OVN's routers, and take nodes out of service"
	root.Long = `See where the gateways of OVN's routers are and should be, and move them; take nodes
out of service and put them back. All that is needed is a way to OVN's Northbound
and Southbound databases: by --nb and --sb, else those of this machine.`
	root.Example = "  " + program + " status\n  " + program + " nodes list"
	root.AddCommand(newNodes(program+" nodes", getenv), newVersion(program))
	dress(root)
	return root
}

// Root returns the command tree of the charm.
func Root(program string, getenv func(string) string, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   name,
		Short: "The charm ovn-central: runs OVN's databases and changes their membership safely",
		Long: `The charm ovn-central. Juju runs this binary as ` + "`dispatch`" + ` for every hook and
action; a person needs it for gateways and nodes at most.`,
		Example: "  " + program + " gateways status\n  " + program + " nodes list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if filepath.Base(program) == dispatch {
				return usageErrorf("nothing to do: Juju sets JUJU_DISPATCH_PATH")
			}
			return cmd.Help()
		},
	}
	root.AddCommand(newHook(getenv, stderr), newAction(getenv, stderr), newGateways(program+" gateways", getenv),
		newNodes(program+" nodes", getenv), newAgent(getenv, stderr), newBackup(getenv, stderr),
		newStartGuard(getenv, stderr), newVersion(program))
	dress(root)
	return root
}

func newVersion(program string) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  " + program + " version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkForm(output); err != nil {
				return err
			}
			built := map[string]string{"version": version.Version}
			return show(cmd.OutOrStdout(), output, built, func(map[string]string) string { return version.Version })
		},
	}
	addOutput(c, c.Flags(), &output)
	return c
}
