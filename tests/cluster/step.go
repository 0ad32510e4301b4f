package cluster

import (
	"context"
	"slices"
)

// Runner is what runs the application that a story is told to.
type Runner string

// The runners.
const (
	// Lab is tests/lab: real databases, each unit in a network of its own, Juju and systemd played.
	Lab Runner = "lab"
	// Client is a `juju` client, by tests/juju: of any controller, or of the lab.
	Client Runner = "client"
)

// The runners of a step. Where update-status runs every five minutes only, as at a real
// controller, what needs several is told to the others alone.
var (
	everywhere  = []Runner{Lab, Client}
	ownMachines = []Runner{Lab} // they implement [OwnMachines]
)

// Step is a part of a story: on which runners it is told, and by which scene its statuses
// are judged.
type Step struct {
	Name  string
	on    []Runner
	scene Scene
	take  func(*Story, context.Context) error
}

// On are those of a story's steps that a runner tells.
func On(runner Runner, steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(step Step) bool { return !slices.Contains(step.on, runner) })
}
