package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/picture"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// newPlan shows what the changing commands would do, and can draw it.
func newPlan(f *gatewayFlags) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "plan [rebalance|reschedule]",
		Short: "Show what a rebalancing or a reschedule would change, and draw it; change nothing",
		Long: `Show what a rebalancing, or a reschedule, would change, and change nothing. With
--picture it is drawn as well: chassis as columns, the gateways that change as rows
with their ranks before and after, and an arrow for each that moves.`,
		Example:   "  " + f.program + " plan rebalance --picture plan.svg",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"rebalance", "reschedule"},
		RunE: func(cmd *cobra.Command, args []string) error {
			verb := append(args, "rebalance")[0]
			operate, own, others := (*gateway.Service).Rebalance, (*gatewayFlags).addMoving, (*gatewayFlags).addScheduling
			if verb == "reschedule" {
				operate, own, others = (*gateway.Service).Reschedule, others, own
			}
			for _, name := range flagsOf(others) {
				if cmd.Flags().Changed(name) {
					return usageError{fmt.Errorf("plan %s takes --%s, not --%s", verb, strings.Join(flagsOf(own), " and --"), name)}
				}
			}
			f.DryRun = true
			if cmd.Flags().Changed("picture") {
				// The text uses the standard output, and a leading dash is the next flag.
				if strings.HasPrefix(file, "-") || filepath.Ext(file) != ".svg" {
					return usageError{errors.New("--picture takes the name of a file, such as plan.svg")}
				}
				f.drawn = func(p schedule.Plan) error { return draw(file, p) }
			}
			return f.run(cmd, operate)
		},
	}
	f.addNetworks(c)
	f.addMoving(c.Flags())
	f.addScheduling(c.Flags())
	offer(c, "scheduler", fixed(string(schedule.LeastLoaded), string(schedule.Random)))
	c.Flags().StringVar(&file, "picture", "", "write a picture of the plan to this file, as SVG")
	return c
}

// flagsOf are the names of the added flags.
func flagsOf(add func(*gatewayFlags, *pflag.FlagSet)) (names []string) {
	var flags pflag.FlagSet
	add(new(gatewayFlags), &flags)
	flags.VisitAll(func(x *pflag.Flag) { names = append(names, x.Name) })
	return names
}

func draw(file string, p schedule.Plan) error {
	// A new file would replace a device or a pipe such as /dev/stdout.
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return usageError{fmt.Errorf("--picture %q exists and is not a regular file", file)}
	}
	if _, err := atomicfile.WriteIfChanged(file, picture.SVG(p), 0o644); err != nil {
		return fmt.Errorf("cannot draw the plan: %w", err)
	}
	return nil
}
