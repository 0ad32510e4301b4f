package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/version"
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
