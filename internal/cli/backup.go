package cli

import (
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
			if path == "" {
				path = paths.Backups
			}
			runner := run.Exec{}
			s := &backup.Service{
				Unit: unit, Files: ovsctl.Files{Runner: runner, Paths: paths},
				Dialer:  &ovsdb.Dialer{Credentials: paths.Credentials()},
				Version: apt.Packages{Runner: runner, Paths: paths}.Installed, Now: time.Now,
				Progress: func(_ context.Context, text string) { fmt.Fprintln(stderr, text) },
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), backupTimeout, errors.New("the backup timed out"))
			defer cancel()
			made, err := s.TakeScheduled(ctx, path, keep)
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
	return c
}
