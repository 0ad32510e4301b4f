package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/picture"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// newPlan shows what the commands that change something would do, and can draw it.
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
			operate := (*gateway.Service).Rebalance
			if len(args) == 1 && args[0] == "reschedule" {
				operate = (*gateway.Service).Reschedule
			}
			f.dryRun = true
			if file != "" {
				f.drawn = func(p schedule.Plan) error { return draw(file, p) }
			}
			return f.run(cmd, operate)
		},
	}
	f.addNetworks(c.Flags())
	f.addPlanning(c.Flags())
	c.Flags().StringVar(&file, "picture", "", "write a picture of the plan to this file, as SVG")
	return c
}

func draw(file string, p schedule.Plan) error {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return usageError{fmt.Errorf("--picture %q is a directory", file)}
	}
	if _, err := atomicfile.WriteIfChanged(file, picture.SVG(p), 0o644); err != nil {
		return fmt.Errorf("cannot draw the plan: %w", err)
	}
	return nil
}
