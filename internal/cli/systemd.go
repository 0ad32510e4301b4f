package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// backupTimeout limits a whole backup, as systemd does.
const backupTimeout = time.Hour

// newBackup makes the command that systemd runs at the interval of the option backup-interval.
func newBackup(getenv func(string) string, stderr io.Writer) *cobra.Command {
	var unit, path string
	var keep int
	c := &cobra.Command{
		Use:   "backup",
		Short: "Make a backup of both databases of this machine, without Juju",
		Long: `Make a backup of both databases of this machine, as the action backup does, and
print where it is. If a backup fails, the reason is kept beside the backups and shown
in the unit's status until the next backup has been made.`,
		Example:     "  sudo ovn-central-operator backup --unit ovn-central/0 --keep 14",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{pageKey: "how-to/back-up"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths := ovndb.PathsFromEnv(getenv)
			runner := run.Exec{}
			s := &backup.Service{
				Unit: unit, Files: ovsctl.Files{Runner: runner, Paths: paths},
				Dialer:  &ovsdb.Dialer{Credentials: paths.Credentials()},
				Version: apt.Packages{Runner: runner, Paths: paths}.Installed, Now: time.Now,
				Progress: func(_ context.Context, text string) { fmt.Fprintln(stderr, text) },
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), backupTimeout, errors.New("the backup timed out"))
			defer cancel()
			made, err := s.TakeScheduled(ctx, cmp.Or(path, paths.Backups), keep)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), made)
			return err
		},
	}
	flags := c.Flags()
	flags.StringVar(&unit, "unit", "", "name of this unit, for the manifest")
	flags.StringVar(&path, "path", "", "where the backups are kept, an absolute path; else where the action keeps them")
	flags.IntVar(&keep, "keep", backup.DefaultKeep, "how many of the newest are kept")
	offer(c, "path", directories)
	return c
}

// refusedStart marks a server that may not be started.
type refusedStart struct{ error }

// newStartGuard makes the command that systemd runs before it starts a server.
func newStartGuard(getenv func(string) string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "start-guard nb|sb",
		Short: "Report whether the server of a database may be started, as systemd asks before each start",
		Long: `Report whether the server of a database may be started on this machine. It may not
if this machine's file is of a cluster that a recovery or a restore has replaced,
and another unit's server of either database says so: otherwise two clusters would
be served.

If that can't be determined within 4 seconds, the server may start and the reason
is printed.`,
		Annotations: map[string]string{"0": "the server may be started", "3": "the server may not be started"},
		Example:     "  ovn-central-operator start-guard nb",
		Args:        cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs:   []string{ovndb.NB.Short(), ovndb.SB.Short()},
		RunE: func(cmd *cobra.Command, args []string) error {
			db := ovndb.NB
			if args[0] == ovndb.SB.Short() {
				db = ovndb.SB
			}
			paths := ovndb.PathsFromEnv(getenv)
			guard := startguard.Guard{Paths: paths, Dialer: &ovsdb.Dialer{Credentials: paths.Credentials()}}
			reason, err := guard.Start(cmd.Context(), db)
			switch {
			case reason != "":
				return refusedStart{fmt.Errorf("%s: its server is not started: %s", db.Short(), reason)}
			case err != nil:
				fmt.Fprintf(stderr, "%s: its server is started, but not all units could be asked whether its cluster was "+
					"given up in a recovery: %s\n", db.Short(), run.Redact(err.Error()))
			}
			return nil
		},
	}
}
