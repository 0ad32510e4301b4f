package cli

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/action"
	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
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
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

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

		ValidArgsFunction: first(fixed(hook.Names()...)),
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

		ValidArgsFunction: first(fixed(action.Names()...)),
		RunE: func(cmd *cobra.Command, args []string) error {
			u := unit(getenv, stderr)
			u.Members.Progress = func(ctx context.Context, text string) {
				if err := u.Tools.ActionLog(ctx, text); err != nil {
					u.Log.InfoContext(ctx, text) //nolint:sloglint // progress, shown to an operator
				}
			}
			backups := &backup.Service{
				Unit: u.Env.Unit, Files: u.Files, Dialer: u.Dialer,
				Version: u.Packages.Installed, Now: time.Now, Progress: u.Members.Progress,
			}
			return action.Run(cmd.Context(), action.Unit{Reconciler: u, Backup: backups}, args[0])
		},
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
	log := slog.New(juju.NewLogHandler(tools, stderr))
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
		//nolint:sloglint // progress, shown to an operator
		Progress: func(ctx context.Context, text string) { log.InfoContext(ctx, text) },
	}
	program, err := os.Executable()
	if err != nil {
		log.Warn("cannot find this program's file; the agent is not kept", "error", err)
	}
	u := &reconcile.Reconciler{
		Observer: observer,
		Tools:    tools,
		Members:  members,
		Packages: apt.Packages{
			Runner: runner, Paths: paths, Getenv: getenv,
			Admin: cmp.Or(getenv("DPKG_ADMINDIR"), apt.DpkgAdmin),
		},
		Firewall:   ufw.Firewall{Runner: runner},
		Policy:     apt.Policy{Runner: runner, Paths: paths, App: env.App},
		Monitoring: monitoring.On(runner, ""),
		Program:    program,
		OS:         system,
	}
	members.BeforeLeaving = u.HaltAgent
	return u
}

// newMachine returns this machine.
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
