// Package monitoring installs the machine's monitoring: the exporter of metrics, a snap, and the checks of Nagios. It
// also has the alert rules and the dashboard: for the agent's metrics, for the exporter's and for logs. The databases
// work without it, so a failure is only a warning.
package monitoring

import (
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Machine is the monitored machine.
type Machine struct {
	Exporter Exporter
	Nagios   Nagios
}

// On is the machine with its file system at root; empty is this machine.
func On(r run.Runner, root string) Machine {
	return Machine{Exporter: Exporter{Runner: r}, Nagios: Nagios{Runner: r, Root: root}}
}
