package juju

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// StatusWord is a state that a charm may set for its unit. Only Juju sets others, such as `error`.
type StatusWord string

// The four words. Source: jujuc/status-set.go.
const (
	Maintenance StatusWord = "maintenance"
	Blocked     StatusWord = "blocked"
	Waiting     StatusWord = "waiting"
	Active      StatusWord = "active"
)

// StatusSet sets the unit's status and its message, folded to one line, at once and even if the hook fails.
func (t *Tools) StatusSet(ctx context.Context, word StatusWord, message string) error {
	err := t.tell(ctx, "status-set", "--", string(word), argument(run.Redact(oneLine(message))))
	return cannot(err, "set status %s", word)
}

// OpenPorts asks Juju to let others reach TCP ports of this unit, for all endpoints, if the application is exposed. An
// open port is no error. They are opened after the hook succeeds.
func (t *Tools) OpenPorts(ctx context.Context, ports ...int) error {
	return t.eachPort(ctx, "open", ports)
}

// ClosePorts reverts [Tools.OpenPorts], after the hook succeeds. A closed port is no error.
func (t *Tools) ClosePorts(ctx context.Context, ports ...int) error {
	return t.eachPort(ctx, "close", ports)
}

// eachPort makes one call for each port: the tools take no list.
func (t *Tools) eachPort(ctx context.Context, verb string, ports []int) error {
	for _, port := range ports {
		if err := t.tell(ctx, verb+"-port", strconv.Itoa(port)+"/tcp"); err != nil {
			return fmt.Errorf("cannot %s TCP port %d: %w", verb, port, err)
		}
	}
	return nil
}

// ApplicationVersionSet sets the workload version in `juju status`, at once and even if the hook fails.
func (t *Tools) ApplicationVersionSet(ctx context.Context, version string) error {
	err := t.tell(ctx, "application-version-set", "--", argument(oneLine(version)))
	return cannot(err, "set the application's version")
}
