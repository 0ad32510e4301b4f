package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func upCommand(g *global) *cobra.Command {
	var o lab.Options
	var added lab.AddOptions
	var units int
	var config []string
	cmd := &cobra.Command{
		Use: "up --charm DIR", Short: "Makes a lab", Args: needs(cobra.NoArgs, "--charm DIR"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Charm == "" {
				return usageError{errors.New("usage: ovn-lab up --charm DIR")}
			}
			values, err := pairs(config)
			if err != nil {
				return err
			}
			o.Dir, o.Log = g.dir, g
			l, err := lab.New(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err = l.Configure(cmd.Context(), values); err == nil {
				_, err = l.AddUnitsWith(cmd.Context(), units, added)
			}
			return errors.Join(err, l.Keep())
		},
	}
	cmd.Flags().StringVar(&o.Charm, "charm", "", "the charm's directory: dispatch, metadata.yaml and so on")
	cmd.Flags().StringVar(&o.JujuVersion, "juju-version", lab.Juju3, "the Juju to be")
	cmd.Flags().DurationVar(&o.ElectionTimer, "election-timer", time.Second, "election timer of both databases")
	cmd.Flags().BoolVar(&o.Northd, "northd", false, "run ovn-northd on every unit")
	cmd.Flags().IntVarP(&units, "units", "n", 0, "units to add at once")
	cmd.Flags().StringArrayVar(&config, "config", nil, "KEY=VALUE: an option of the charm, from the beginning")
	cmd.Flags().BoolVar(&added.Fresh, "fresh", false, freshUsage)
	return cmd
}

const freshUsage = "on empty machines, which the charm sets up; otherwise the lab does"

func pairs(args []string) (map[string]string, error) {
	values := map[string]string{}
	for _, arg := range args {
		key, value, found := strings.Cut(arg, "=")
		if !found {
			return nil, usageError{fmt.Errorf("expected KEY=VALUE, got %q", arg)}
		}
		values[key] = value
	}
	return values, nil
}

func downCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Ends the lab: kills its servers, removes its directory", Args: needs(cobra.NoArgs, ""),
		RunE: func(*cobra.Command, []string) error {
			l, err := lab.Open(g.dir, g)
			if err != nil {
				return err
			}
			return l.Close()
		},
	}
}

func addUnitCommand(g *global) *cobra.Command {
	var units int
	var o lab.AddOptions
	cmd := labCommand(g, "add-unit [APP]", "Adds units (juju add-unit)", needs(cobra.MaximumNArgs(1), "[APP] [-n N]"),
		func(cmd *cobra.Command, l *lab.Lab, args []string) error {
			if err := isApplication(args); err != nil {
				return err
			}
			_, err := l.AddUnitsWith(cmd.Context(), units, o)
			return err
		})
	cmd.Flags().IntVarP(&units, "num-units", "n", 1, "how many")
	cmd.Flags().BoolVar(&o.Fresh, "fresh", false, freshUsage)
	return cmd
}

// isApplication checks the name of the application, if it is given: a lab has one.
func isApplication(args []string) error {
	if len(args) > 0 && args[0] != lab.ApplicationName {
		return usageError{fmt.Errorf("unknown application %q; the lab's is %s", args[0], lab.ApplicationName)}
	}
	return nil
}

func configCommand(g *global) *cobra.Command {
	const usage = "APP KEY=VALUE..."
	return labCommand(g, "config "+usage, "Sets options of the charm (juju config)", needs(cobra.MinimumNArgs(2), usage),
		func(cmd *cobra.Command, l *lab.Lab, args []string) error {
			values, err := pairs(args[1:])
			if err := errors.Join(isApplication(args), err); err != nil {
				return err
			}
			return l.Configure(cmd.Context(), values)
		})
}

func relateCommand(g *global) *cobra.Command {
	return labCommand(g, "relate-ca", "Relates the application to a vault that issues certificates",
		needs(cobra.NoArgs, ""),
		func(cmd *cobra.Command, l *lab.Lab, _ []string) error {
			_, err := l.RelateCA(cmd.Context())
			return err
		})
}

func removeUnitCommand(g *global) *cobra.Command {
	var o lab.RemoveOptions
	const usage = "UNIT..."
	cmd := labCommand(g, "remove-unit "+usage, "Removes units (juju remove-unit)", needs(cobra.MinimumNArgs(1), usage),
		func(cmd *cobra.Command, l *lab.Lab, names []string) error {
			units := make([]*lab.Unit, len(names))
			for i, name := range names {
				var err error
				if units[i], err = unitOf(l, name); err != nil {
					return err
				}
			}
			for _, u := range units {
				if err := l.RemoveUnit(cmd.Context(), u, o); err != nil {
					return err
				}
			}
			return nil
		})
	cmd.Flags().BoolVar(&o.Force, "force", false, "its machine is dead: run none of its hooks")
	cmd.Flags().Bool("no-wait", false, "as in a printed command: with --force, the lab never waits")
	return cmd
}

func powerOffCommand(g *global) *cobra.Command {
	return unitCommand(g, "power-off UNIT", "Ends a unit's machine suddenly", cobra.ExactArgs(1),
		func(_ *cobra.Command, _ *lab.Lab, u *lab.Unit, _ []string) error { return u.PowerOff() })
}

func powerOnCommand(g *global) *cobra.Command {
	return unitCommand(g, "power-on UNIT", "Boots a unit's machine", cobra.ExactArgs(1),
		func(cmd *cobra.Command, _ *lab.Lab, u *lab.Unit, _ []string) error { return u.PowerOn(cmd.Context()) })
}

func resolvedCommand(g *global) *cobra.Command {
	var noRetry bool
	cmd := unitCommand(g, "resolved UNIT", "Retries a failed hook (juju resolved)", cobra.ExactArgs(1),
		func(cmd *cobra.Command, l *lab.Lab, u *lab.Unit, _ []string) error {
			return l.Resolved(cmd.Context(), u, noRetry)
		})
	cmd.Flags().BoolVar(&noRetry, "no-retry", false, "take the hook for done")
	return cmd
}

func hookCommand(g *global) *cobra.Command {
	return unitCommand(g, "exec-hook UNIT HOOK", "Runs one hook, in or out of order", cobra.ExactArgs(2),
		func(cmd *cobra.Command, l *lab.Lab, u *lab.Unit, rest []string) error {
			return l.RunHook(cmd.Context(), u, rest[0])
		})
}

func updateStatusCommand(g *global) *cobra.Command {
	return labCommand(g, "update-status", "Runs update-status on every unit, as Juju does every 5 minutes", needs(cobra.NoArgs, ""),
		func(cmd *cobra.Command, l *lab.Lab, _ []string) error { return l.UpdateStatus(cmd.Context()) })
}

// errActionFailed ends a run whose action failed; the output has the reason.
var errActionFailed = errors.New("the task failed")

func runCommand(g *global) *cobra.Command {
	cmd := unitCommand(g, "run UNIT ACTION [KEY=VALUE...]", "Runs an action (juju run)", cobra.MinimumNArgs(2),
		func(cmd *cobra.Command, l *lab.Lab, u *lab.Unit, rest []string) error {
			// The lab waits for every action, and so ignores the --wait of a printed command.
			typed := slices.DeleteFunc(rest[1:], func(word string) bool { return strings.HasPrefix(word, "--wait") })
			result, err := l.RunAction(cmd.Context(), u, rest[0], typed...)
			if result.ID != "" {
				result.Print(cmd.OutOrStdout(), u)
			}
			if err == nil && result.Status == "failed" {
				err = errActionFailed
			}
			return err
		})
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func statusCommand(g *global) *cobra.Command {
	return labCommand(g, "status", "Shows the units (juju status) and their servers", needs(cobra.NoArgs, ""),
		func(cmd *cobra.Command, l *lab.Lab, _ []string) error {
			l.PrintStatus(cmd.OutOrStdout())
			return nil
		})
}
