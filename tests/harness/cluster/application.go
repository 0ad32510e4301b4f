// Package cluster has scenarios for any [Application], on the lab or a real controller, that check every status.
package cluster

import (
	"context"
	"errors"
	"time"
)

// Application is the charm in one model, as its operator sees it. Commands return when Juju has accepted them.
type Application interface {
	// Deploy makes the application, with n units and options.
	Deploy(ctx context.Context, n int, options map[string]string) error
	// Add adds n units.
	Add(ctx context.Context, n int) error
	// Remove removes a unit. With force it does so at once, whatever the unit's machine does.
	Remove(ctx context.Context, unit string, force bool) error
	// Destroy removes the application.
	Destroy(ctx context.Context) error
	// Relate relates the application to another, by the endpoint that both have.
	Relate(ctx context.Context, endpoint, other string) error
	// Configure sets options.
	Configure(ctx context.Context, options map[string]string) error
	// Units returns the units in the model; none if there is no such application.
	Units(ctx context.Context) (map[string]Unit, error)
	// Log returns the recent statuses of a unit, as the charm has set them; none if they aren't kept.
	Log(ctx context.Context, unit string) ([]Past, error)
	// Run runs an action, and returns its results; if it failed, the error is an [ErrAction].
	Run(ctx context.Context, unit, action string, args ...string) (map[string]any, error)
	// Exec runs a program on a unit's machine, and returns what it wrote to stdout.
	Exec(ctx context.Context, unit, program string, args ...string) (string, error)
	// RestartAgent restarts a unit's agent.
	RestartAgent(ctx context.Context, unit string) error
	// PowerOff cuts the power of a unit's machine.
	PowerOff(ctx context.Context, unit string) error
}

// OwnMachines is an application whose machines the tests control.
type OwnMachines interface {
	Application
	// AddOn adds a unit on the machine of a unit that has left.
	AddOn(ctx context.Context, left string) error
	// PowerOn boots a unit's machine.
	PowerOn(ctx context.Context, unit string) error
	// Reboot restarts a unit's machine.
	Reboot(ctx context.Context, unit string) error
	// CutOff disconnects a unit's machine from the network, or connects it again.
	CutOff(ctx context.Context, unit string, off bool) error
}

// Status is a status with its message.
type Status struct {
	Current string `json:"current"`
	Message string `json:"message"`
}

// Unit is one unit in `juju status`.
type Unit struct {
	Workload Status `json:"workload-status"`
	Agent    Status `json:"juju-status"`
	Leader   bool   `json:"leader"`
}

// Past is one line of `juju show-status-log`.
type Past struct {
	Status  string    `json:"status"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// logDelay is the delay of the log: Juju 4 writes it every two seconds (flushInterval of logger.go, 4.0.15).
const logDelay = 3 * time.Second

// ErrAction is wrapped by the error of an action that failed.
var ErrAction = errors.New("the action has failed")
