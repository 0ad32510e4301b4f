package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/action"
	"github.com/ovn-central/ovn-central-operator/internal/hook"
	"github.com/ovn-central/ovn-central-operator/internal/present"
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
					u.Log.InfoContext(ctx, text) //nolint:sloglint // progress, shown to an operator
				}
			}
			return action.Run(cmd.Context(), action.Unit{Reconciler: u, Backup: backups(u)}, args[0])
		},
	}
}
