// Command ovn-lab replaces Juju on one machine, with real OVN databases: see package lab. Each run does one thing to
// a lab. The lab stays in its directory, with its servers running, until `ovn-lab down`.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

type global struct {
	dir     string
	verbose bool
	// terminal reports whether a person watches: the hooks that run are shown, since commands take many seconds.
	terminal bool
	errors   io.Writer
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
		relateCommand(g), configCommand(g), addUnitCommand(g), removeUnitCommand(g), resolvedCommand(g),
		powerOffCommand(g), powerOnCommand(g),
		runCommand(g), hookCommand(g), updateStatusCommand(g),
	)
	return root
}

// Write shows the charm's log if a flag requests it. On a terminal it shows at least the lines that name a hook.
func (g *global) Write(text []byte) (int, error) {
	if g.verbose || g.terminal && !bytes.Contains(text, []byte(": ")) {
		return g.errors.Write(text)
	}
	return len(text), nil
}

// with runs f on the lab, and keeps it for the next command.
func (g *global) with(f func(*lab.Lab) error) error {
	l, err := lab.Open(g.dir, g)
	if err != nil {
		return err
	}
	return errors.Join(f(l), l.Keep())
}

func labCommand(g *global, use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, l *lab.Lab, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.with(func(l *lab.Lab) error { return do(cmd, l, args) })
		},
	}
}

func needs(check cobra.PositionalArgs, usage string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("usage: ovn-lab %s %s", cmd.Name(), usage)}
		}
		return nil
	}
}

// unitCommand returns a command about one unit, its first argument. The other arguments are passed on.
func unitCommand(g *global, use, short string, args cobra.PositionalArgs, do func(cmd *cobra.Command, l *lab.Lab, u *lab.Unit, rest []string) error) *cobra.Command {
	_, usage, _ := strings.Cut(use, " ")
	return labCommand(g, use, short, needs(args, usage), func(cmd *cobra.Command, l *lab.Lab, args []string) error {
		u, err := unitOf(l, args[0])
		if err != nil {
			return err
		}
		return do(cmd, l, u, args[1:])
	})
}

// unitOf returns the unit of that name, or Juju's leader for ovn-central/leader.
func unitOf(l *lab.Lab, name string) (*lab.Unit, error) {
	if leader := l.Leader(); leader != nil && name == lab.ApplicationName+"/leader" {
		return leader, nil
	}
	return l.Unit(name)
}

// Exit codes.
const (
	exitFailure     = 1 // also if an action failed
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	lab.Intercept()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	info, err := os.Stderr.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	code := run(ctx, &global{terminal: terminal}, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, g *global, args []string, stdout, stderr io.Writer) int {
	root := newRoot(g)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	g.errors = stderr
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(stderr, "ERROR %s\n", line)
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(usageError)):
		return exitUsage
	}
	return exitFailure
}

type usageError struct{ error }
