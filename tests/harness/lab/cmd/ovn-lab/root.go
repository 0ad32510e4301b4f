package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// global are the options of every command, and what was typed.
type global struct {
	dir     string
	verbose bool
	args    []string
	// The keeper has the lab, and the socket by which it is handed commands.
	keeper   bool
	lab      *lab.Lab
	listener net.Listener
	errors   io.Writer // of the command that is being run
}

func newRoot(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:   "ovn-lab",
		Short: "Plays Juju on one machine, with real OVN databases",
		Long: `Plays Juju on one machine, with real OVN databases.

A lab is a directory with an application of the charm, its units, and their
database servers, each unit in a network namespace of its own. It stays, and
its servers run, until "ovn-lab down". A lab that a failed test has kept
(KEEP=1) is one, too: the test prints its directory.

EXIT STATUS
  0  done
  1  it failed; so did a hook, or an action
  2  wrong arguments
  130  interrupted`,
		Example: `  ovn-lab up --charm build/charm --units 3 --fresh --config source=distro
  ovn-lab relate-ca
  ovn-lab status
  ovn-lab run ovn-central/0 cluster-status
  ovn-lab remove-unit ovn-central/2
  ovn-lab down`,
		SilenceUsage: true, SilenceErrors: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q; ovn-lab --help lists them", args[0])}
			}
			return cmd.Help()
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().StringVar(&g.dir, "dir", cmp.Or(os.Getenv("OVN_LAB_DIR"), filepath.Join(os.TempDir(), "ovn-lab")),
		"the lab's directory (OVN_LAB_DIR)")
	root.PersistentFlags().BoolVarP(&g.verbose, "verbose", "v", false, "show what the charm logs")
	root.AddCommand(
		upCommand(g), downCommand(g), statusCommand(g),
		relateCommand(g), addUnitCommand(g), removeUnitCommand(g), removeApplicationCommand(g), resolvedCommand(g), configCommand(g),
		runCommand(g), hookCommand(g), debugCommand(g), updateStatusCommand(g),
		machineCommand(g, "power-off", "Takes a unit's machine away, suddenly", func(_ context.Context, u *lab.Unit) error { return u.PowerOff() }),
		machineCommand(g, "power-on", "Boots a machine that was off", func(ctx context.Context, u *lab.Unit) error { return u.PowerOn(ctx) }),
		serverCommand(g, "kill", "Kills a unit's database server (SIGKILL)", func(_ context.Context, u *lab.Unit, db lab.DB) error { return u.Kill(db) }),
		serverCommand(g, "start", "Starts a unit's database server", func(ctx context.Context, u *lab.Unit, db lab.DB) error { return u.Start(ctx, db) }),
		serverCommand(g, "stop", "Stops a unit's database server, as systemctl does", func(ctx context.Context, u *lab.Unit, db lab.DB) error { return u.Stop(ctx, db) }),
		serverCommand(g, "hang", "Makes a unit's database server hang (SIGSTOP)", func(_ context.Context, u *lab.Unit, db lab.DB) error { return u.Hang(db) }),
		serverCommand(g, "resume", "Ends hang", func(_ context.Context, u *lab.Unit, db lab.DB) error { return u.Resume(db) }),
	)
	return root
}

// Write shows what the charm logs, if that is asked for.
func (g *global) Write(text []byte) (int, error) {
	if g.verbose {
		return g.errors.Write(text)
	}
	return len(text), nil
}

// open opens a lab that a test has kept, unless this keeper has its lab.
func (g *global) open(ctx context.Context) (err error) {
	if g.lab != nil {
		return nil
	}
	if g.lab, err = lab.Open(ctx, g.dir, g); err != nil {
		return err
	}
	_ = os.Remove(socketIn(g.dir)) // of a keeper that was killed
	g.listener, err = net.Listen("unix", socketIn(g.dir))
	return err
}

// with does something to the lab, or hands the command to its keeper.
func (g *global) with(cmd *cobra.Command, f func(*lab.Lab) error) error {
	if g.keeper {
		if err := g.open(cmd.Context()); err != nil {
			return err
		}
		return f(g.lab)
	}
	connection, err := net.Dial("unix", socketIn(g.dir))
	if err != nil && lab.Kept(g.dir) {
		return g.start(cmd)
	}
	if err != nil {
		return fmt.Errorf("cannot open the lab: there is none in %s", g.dir)
	}
	return g.hand(cmd, connection)
}

// labCommand is a command that does something to the lab.
func labCommand(g *global, use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, l *lab.Lab, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.with(cmd, func(l *lab.Lab) error { return do(cmd, l, args) })
		},
	}
}

// needs checks the arguments of a command.
func needs(check cobra.PositionalArgs, usage string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("usage: ovn-lab %s %s", cmd.Name(), usage)}
		}
		return nil
	}
}

// serverCommand is a command about one server: UNIT nb|sb.
func serverCommand(g *global, name, short string, do func(context.Context, *lab.Unit, lab.DB) error) *cobra.Command {
	cmd := unitCommand(g, name+" UNIT nb|sb", short, cobra.ExactArgs(2), func(cmd *cobra.Command, _ *lab.Lab, u *lab.Unit, rest []string) error {
		return do(cmd.Context(), u, lab.DB(rest[0]))
	})
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if !slices.Contains(lab.Databases, lab.DB(args[1])) {
			return usageError{fmt.Errorf("%q is no database: nb or sb", args[1])}
		}
		return nil
	}
	return cmd
}

// machineCommand is a command about one unit's machine.
func machineCommand(g *global, name, short string, do func(context.Context, *lab.Unit) error) *cobra.Command {
	return unitCommand(g, name+" UNIT", short, cobra.ExactArgs(1), func(cmd *cobra.Command, _ *lab.Lab, u *lab.Unit, _ []string) error {
		return do(cmd.Context(), u)
	})
}

// unitCommand is a command about one unit, its first argument; the rest is handed on.
func unitCommand(g *global, use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, l *lab.Lab, u *lab.Unit, rest []string) error) *cobra.Command {
	_, usage, _ := strings.Cut(use, " ")
	return labCommand(g, use, short, needs(args, usage), func(cmd *cobra.Command, l *lab.Lab, args []string) error {
		u, err := l.Unit(args[0])
		if err != nil {
			return err
		}
		return do(cmd, l, u, args[1:])
	})
}
