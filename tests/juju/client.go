// Package juju tells the story of an application to a Juju that somebody else
// has: it needs a `juju` client with a bootstrapped controller, and judges each
// status that is shown on the way.
package juju

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// commandLimit bounds one command of the client; an action's own limit is shorter.
const commandLimit = 10 * time.Minute

// Client runs `juju` against one model.
type Client struct {
	// Program is the client; "juju".
	Program string
	// Model is [CONTROLLER:]MODEL.
	Model string
}

// Do runs one command of the client, and returns what it wrote to stdout. The
// model is added.
func (c *Client) Do(ctx context.Context, command string, args ...string) ([]byte, error) {
	out, _, err := c.do(ctx, command, args...)
	return out, err
}

func (c *Client) do(ctx context.Context, command string, args ...string) (out []byte, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Program, slices.Concat([]string{command, "-m", c.Model}, args)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	said = strings.TrimSpace(stderr.String())
	if err != nil {
		err = fmt.Errorf("cannot run juju %s %s: %w: %s", command, strings.Join(args, " "), err, said)
	}
	return stdout.Bytes(), said, err
}

// Word is a status with its message.
type Word struct {
	Current string `json:"current"`
	Message string `json:"message"`
}

// Unit is one unit in `juju status`.
type Unit struct {
	Workload Word   `json:"workload-status"`
	Agent    Word   `json:"juju-status"`
	Leader   bool   `json:"leader"`
	Machine  string `json:"machine"`
}

// Units are those of an application; none where there is no such application.
func (c *Client) Units(ctx context.Context, app string) (map[string]Unit, error) {
	out, err := c.Do(ctx, "status", "--format=json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Applications map[string]struct {
			Units map[string]Unit `json:"units"`
		} `json:"applications"`
	}
	if err := json.Unmarshal(out, &status); err != nil {
		return nil, fmt.Errorf("cannot read juju status: %w", err)
	}
	return status.Applications[app].Units, nil
}

// logDelay is after how long the log has what was shown. Juju 4 writes it every two
// seconds (flushInterval of cmd/jujud-controller/agent/logger.go, 4.0.15).
const logDelay = 3 * time.Second

// Past is one line of `juju show-status-log`. Juju 4 tells its time in whole seconds,
// cut off (RecordStatus of internal/statushistory, 4.0.15).
type Past struct {
	Status  string    `json:"status"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// Log is what the charm of a unit has shown, the last 200.
func (c *Client) Log(ctx context.Context, unit string) ([]Past, error) {
	out, err := c.Do(ctx, "show-status-log", "--type", "workload", "-n", "200", "--format=json", unit)
	if err != nil {
		return nil, err
	}
	var log []Past
	if err := json.Unmarshal(out, &log); err != nil {
		return nil, fmt.Errorf("cannot read the status log of %s: %w", unit, err)
	}
	return log, nil
}

// errAction is wrapped where an action has failed.
var errAction = errors.New("the action has failed")

// Run runs an action, with arguments as they are typed after `juju run`, and
// returns its results.
func (c *Client) Run(ctx context.Context, typed ...string) (map[string]any, error) {
	// The client's own exit code is that of the action: what it printed decides. Of
	// an action that the controller has refused it prints nothing, ends with 0, and says
	// why on stderr (processOperationResults of cmd/juju/action/common.go, 4.0.15).
	// It waits for no longer than a minute unless it is told to (defaultWait, same file).
	out, said, failed := c.do(ctx, "run", append([]string{"--format=json", "--wait=" + commandLimit.String()}, typed...)...)
	if failed == nil && len(out) == 0 {
		return nil, fmt.Errorf("juju run %s: %w: %s", strings.Join(typed, " "), errAction, said)
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
			return task.Results, fmt.Errorf("juju run %s: %w: %s", strings.Join(typed, " "), errAction, task.Message)
		}
		return task.Results, nil
	}
	return nil, errors.Join(failed, fmt.Errorf("juju run %s: no task", strings.Join(typed, " ")))
}
