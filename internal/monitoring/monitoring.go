// Package monitoring puts on the machine what watches it: the exporter of metrics,
// a snap, and the checks of Nagios. It also holds the alert rules and the
// dashboard that go with the exporter's metrics. Nothing here is needed for the
// databases to work: the caller decides what a failure means, which is a warning.
package monitoring

import (
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Machine is what is watched.
type Machine struct {
	Exporter Exporter
	Nagios   Nagios
}

// On is the machine whose file system begins at root; empty is the machine's own.
func On(r run.Runner, root string) Machine {
	return Machine{Exporter: Exporter{Runner: r}, Nagios: Nagios{Runner: r, Root: root}}
}
