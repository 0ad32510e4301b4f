package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/action"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/hook"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/version"
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

// shownError marks an error that was already shown: a hook's in Juju's log, which also gets its stderr; an operation's
// on a node as its answer.
type shownError struct{ error }

func (e shownError) Unwrap() error { return e.error }

// errProblems is the error of `status --exit-code` if there are problems, which are shown already.
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

// name is the binary's. GatewaysName is its name on machines without the charm, with only what works for any OVN.
const (
	name         = "ovn-central-operator"
	GatewaysName = "ovn-gateways"
)

// Gateways is the command tree for any OVN. The program is as it was typed.
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

// Root is the command tree of the charm.
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
				return usageError{errors.New("nothing to do: Juju sets JUJU_DISPATCH_PATH")}
			}
			return cmd.Help()
		},
	}
	root.AddCommand(newHook(getenv, stderr), newAction(getenv, stderr), newGateways(program+" gateways", getenv),
		newNodes(program+" nodes", getenv),
		newAgent(getenv, stderr), newBackup(getenv, stderr), newStartGuard(getenv, stderr), newVersion(program))
	dress(root)
	return root
}

func newHook(getenv func(string) string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "hook NAME",
		Short: "Run a hook, as Juju does",
		Long: `Run a hook in the environment that Juju gives it: its tools must be in PATH.
A hook that is not known is no error.

HOOKS
  ` + strings.Join(hook.Names(), "\n  "),
		Example:     "  ovn-central-operator hook update-status",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{"1": "failed: Juju shows it, and runs the hook again", pageKey: "reference/hooks"},
		RunE: func(cmd *cobra.Command, args []string) error {
			u := unit(getenv, stderr)
			err := hook.Run(cmd.Context(), u, args[0])
			if err == nil {
				return nil
			}
			for line := range strings.Lines(present.Failure(u.Env.Version, err)) {
				//nolint:sloglint // for people: why the hook failed
				u.Log.ErrorContext(context.WithoutCancel(cmd.Context()), strings.TrimSpace(line))
			}
			return shownError{err}
		},
	}
}

func newAction(getenv func(string) string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "action NAME",
		Short: "Run an action, as Juju does",
		Long: `Run an action in the environment that Juju gives it: its tools must be in PATH,
and answer with the action's parameters.

ACTIONS
  ` + strings.Join(action.Names(), "\n  "),
		Example:     "  ovn-central-operator action cluster-status",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{"0": "done, or refused: Juju was told which", pageKey: "reference/actions"},
		RunE: func(cmd *cobra.Command, args []string) error {
			u := unit(getenv, stderr)
			u.Members.Progress = func(ctx context.Context, text string) {
				if err := u.Tools.ActionLog(ctx, text); err != nil {
					u.Log.InfoContext(ctx, text) //nolint:sloglint // for a person who waits
				}
			}
			return action.Run(cmd.Context(), action.Unit{Reconciler: u, Backup: backups(u)}, args[0])
		},
	}
}

func newVersion(program string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version that this binary was built as.",
		Example: "  " + program + " version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.Version)
			return err
		},
	}
}

// backups makes copies of the databases, and reports on them what the unit's members report.
func backups(u *reconcile.Reconciler) *backup.Service {
	return &backup.Service{
		Unit: u.Env.Unit, Files: u.Files, Dialer: u.Dialer,
		Version: u.Packages.Installed, Now: time.Now, Progress: u.Members.Progress,
	}
}

// newMachine is this machine.
func newMachine(env juju.Env, paths ovndb.Paths, credentials ovndb.Credentials, log *slog.Logger) *observe.Machine {
	runner := run.Exec{}
	return &observe.Machine{
		Env:      env,
		Control:  ovsctl.Control{Runner: runner, Paths: paths},
		Files:    ovsctl.Files{Runner: runner, Paths: paths, Answers: new(ovsctl.StateCache)},
		Services: systemd.Services{Runner: runner, Paths: paths},
		Dialer:   &ovsdb.Dialer{Credentials: credentials},
		Now:      time.Now,
		Log:      log,
	}
}

// unit constructs the services of a hook or an action.
func unit(getenv func(string) string, stderr io.Writer) *reconcile.Reconciler {
	var (
		runner = run.Exec{}
		env    = juju.ReadEnv(getenv)
		tools  = juju.New(runner)
		paths  = ovndb.PathsFromEnv(getenv)
	)
	log := slog.New(juju.NewLogHandler(tools, stderr, slog.LevelInfo))
	system, err := apt.ReadOS(apt.OSRelease)
	if err != nil {
		log.Warn("cannot tell which system this is; only source=distro can be used", "error", err)
	}
	machine := newMachine(env, paths, paths.Credentials(), log)
	observer := &observe.Observer{Machine: machine}
	members := &membership.Changer{
		Machine:  machine,
		Observer: observer,
		Goal:     tools.GoalState,
		//nolint:sloglint // for a person who waits
		Progress: func(ctx context.Context, text string) { log.InfoContext(ctx, text) },
	}
	program, err := os.Executable()
	if err != nil {
		log.Warn("cannot find this program's file; the agent is not kept", "error", err)
	}
	u := &reconcile.Reconciler{
		Machine:  machine,
		Tools:    tools,
		Observer: observer,
		Members:  members,
		Paths:    paths,
		Packages: apt.Packages{
			Runner: runner, Paths: paths, Getenv: getenv,
			Admin: cmp.Or(getenv("DPKG_ADMINDIR"), apt.DpkgAdmin),
		},
		Firewall:   firewall.Firewall{Runner: runner},
		Policy:     apt.Policy{Runner: runner, Paths: paths, App: env.App},
		Monitoring: monitoring.On(runner, ""),
		Program:    program,
		OS:         system,
	}
	members.BeforeLeaving = u.HaltAgent
	return u
}
