package cluster

import (
	"context"
	"slices"
)

// Runner names what runs the application of a scenario.
type Runner string

// The runners.
const (
	// Lab is tests/harness/lab: real databases, each unit in its own network, Juju and systemd simulated.
	Lab Runner = "lab"
	// Client is a `juju` client, by tests/system/juju: of any controller, or of the lab.
	Client Runner = "client"
	// Machines is tests/system/machines/juju: machines with systemd and Debian's packages, under Juju's
	// own unit agent.
	Machines Runner = "machines"
)

// The runners of a step. A real controller runs update-status every five minutes only, so a
// step that needs several runs on the other runners.
var (
	everywhere   = []Runner{Lab, Client, Machines}
	ownMachines  = []Runner{Lab, Machines} // they implement [OwnMachines]
	furtherUnits = []Runner{Lab, Client}   // each takes Machines a minute of packages, and Grown adds two
)

// Step is a part of a scenario: on which runners it runs, and the scene by which the statuses
// that are shown meanwhile are judged.
type Step struct {
	Name  string
	on    []Runner
	scene Scene
	take  func(*Story, context.Context) error
}

// On returns the steps that a runner runs.
func On(runner Runner, steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(step Step) bool { return !slices.Contains(step.on, runner) })
}
