package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

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
