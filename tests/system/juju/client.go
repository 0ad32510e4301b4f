// Package juju tells the story of an application to a Juju that another program has: it needs a `juju` client with a
// bootstrapped controller, and judges each status that is shown on the way.
package juju

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// commandLimit bounds one command of the client; an action's own limit is shorter.
const commandLimit = 10 * time.Minute

// Client runs `juju` against one model, in which the application is or will be.
type Client struct {
	// Program is the client; "juju".
	Program string
	// Model is [CONTROLLER:]MODEL.
	Model string
	// Charm is the charm file. App is the name under which it is deployed.
	Charm, App string
	// Machines are the machines for units. If there are none, the cloud makes them.
	Machines []string
	// TurnOff and Restart are commands with their arguments for machines and agents; {unit} is the unit's name.
	TurnOff, Restart []string

	next int // of Machines
}

// The commands that are run unless others are given.
var (
	TurnOff = []string{"ssh", "{unit}", "--", "sudo", "systemctl", "poweroff", "--force", "--force"}
	Restart = []string{"ssh", "{unit}", "--", "sudo", "systemctl", "restart", "jujud-machine-*"}
)

// output runs one command of the client in the model, and returns its output.
func (c *Client) output(ctx context.Context, command string, args ...string) (stdout []byte, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Program, slices.Concat([]string{command, "-m", c.Model}, args)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	stderr = strings.TrimSpace(errs.String())
	if err != nil {
		err = fmt.Errorf("cannot run juju %s %s: %w: %s", command, strings.Join(args, " "), err, stderr)
	}
	return out.Bytes(), stderr, err
}

func (c *Client) do(ctx context.Context, command string, args ...string) error {
	_, _, err := c.output(ctx, command, args...)
	return err
}

// Deploy implements [cluster.Application].
func (c *Client) Deploy(ctx context.Context, n int, options map[string]string) error {
	args := []string{c.Charm, c.App, "-n", fmt.Sprint(n)}
	for _, option := range settings(options) {
		args = append(args, "--config", option)
	}
	return c.do(ctx, "deploy", append(args, c.to(n)...)...)
}

// Add implements [cluster.Application].
func (c *Client) Add(ctx context.Context, n int) error {
	return c.do(ctx, "add-unit", append([]string{c.App, "-n", fmt.Sprint(n)}, c.to(n)...)...)
}

// to returns the flags for the placement of n units.
func (c *Client) to(n int) []string {
	if len(c.Machines) == 0 {
		return nil
	}
	on := c.Machines[min(c.next, len(c.Machines)):min(c.next+n, len(c.Machines))]
	c.next += n
	return []string{"--to", strings.Join(on, ",")}
}

// Remove implements [cluster.Application].
func (c *Client) Remove(ctx context.Context, unit string, force bool) error {
	args := []string{"--no-prompt", unit}
	if force {
		args = []string{"--no-prompt", "--force", "--no-wait", unit}
	}
	return c.do(ctx, "remove-unit", args...)
}

// Destroy implements [cluster.Application].
func (c *Client) Destroy(ctx context.Context) error {
	return c.do(ctx, "remove-application", "--no-prompt", c.App)
}

// Relate implements [cluster.Application].
func (c *Client) Relate(ctx context.Context, endpoint, other string) error {
	return c.do(ctx, "integrate", c.App+":"+endpoint, other+":"+endpoint)
}

// Configure implements [cluster.Application].
func (c *Client) Configure(ctx context.Context, options map[string]string) error {
	return c.do(ctx, "config", append([]string{c.App}, settings(options)...)...)
}

func settings(options map[string]string) (typed []string) {
	for _, key := range slices.Sorted(maps.Keys(options)) {
		typed = append(typed, key+"="+options[key])
	}
	return typed
}

// Units implements [cluster.Application].
func (c *Client) Units(ctx context.Context) (map[string]cluster.Unit, error) {
	out, _, err := c.output(ctx, "status", "--format=json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Applications map[string]struct {
			Units map[string]cluster.Unit `json:"units"`
		} `json:"applications"`
	}
	if err := json.Unmarshal(out, &status); err != nil {
		return nil, fmt.Errorf("cannot read juju status: %w", err)
	}
	return status.Applications[c.App].Units, nil
}

// Log implements [cluster.Application]: the last 200. Juju 4's times are whole seconds (RecordStatus, 4.0.15).
func (c *Client) Log(ctx context.Context, unit string) ([]cluster.Past, error) {
	out, _, err := c.output(ctx, "show-status-log", "--type", "workload", "-n", "200", "--format=json", unit)
	if err != nil {
		return nil, err
	}
	var log []cluster.Past
	if err := json.Unmarshal(out, &log); err != nil {
		return nil, fmt.Errorf("cannot read the status log of %s: %w", unit, err)
	}
	return log, nil
}

// Run implements [cluster.Application].
func (c *Client) Run(ctx context.Context, unit, action string, args ...string) (map[string]any, error) {
	typed := append([]string{unit, action}, args...)
	// The client's exit code is that of the action, so its output decides. For an action that the controller has refused
	// it prints nothing, exits with 0, and prints the reason on stderr (processOperationResults of
	// cmd/juju/action/common.go, 4.0.15). Its default limit is a minute (defaultWait, same file).
	out, stderr, failed := c.output(ctx, "run", append([]string{"--format=json", "--wait=" + commandLimit.String()}, typed...)...)
	if failed == nil && len(out) == 0 {
		return nil, fmt.Errorf("juju run %s: %w: %s", strings.Join(typed, " "), cluster.ErrAction, stderr)
	}
	var tasks map[string]struct {
		Status  string         `json:"status"`
		Message string         `json:"message"`
		Results map[string]any `json:"results"`
	}
	if err := json.Unmarshal(out, &tasks); err != nil {
		return nil, errors.Join(failed, fmt.Errorf("cannot read what juju run %s printed: %w", strings.Join(typed, " "), err))
	}
	for _, task := range tasks {
		if task.Status != "completed" {
			return task.Results, fmt.Errorf("juju run %s: %w: %s", strings.Join(typed, " "), cluster.ErrAction, task.Message)
		}
		return task.Results, nil
	}
	return nil, errors.Join(failed, fmt.Errorf("juju run %s: no task", strings.Join(typed, " ")))
}

// Exec implements [cluster.Application].
func (c *Client) Exec(ctx context.Context, unit, program string, args ...string) (string, error) {
	out, _, err := c.output(ctx, "exec", append([]string{"--unit", unit, "--", program}, args...)...)
	return string(out), err
}

// RestartAgent implements [cluster.Application].
func (c *Client) RestartAgent(ctx context.Context, unit string) error {
	return c.on(ctx, unit, c.Restart)
}

// PowerOff implements [cluster.Application]. It ignores the command's result: the command's connection ends, too.
func (c *Client) PowerOff(ctx context.Context, unit string) error {
	_ = c.on(ctx, unit, c.TurnOff)
	return ctx.Err()
}

func (c *Client) on(ctx context.Context, unit string, command []string) error {
	args := make([]string, 0, len(command))
	for _, arg := range command {
		args = append(args, strings.ReplaceAll(arg, "{unit}", unit))
	}
	return c.do(ctx, args[0], args[1:]...)
}
