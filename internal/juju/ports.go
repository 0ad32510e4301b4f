package juju

import (
	"context"
	"fmt"
	"strconv"
)

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
	if err := t.tell(ctx, "application-version-set", "--", argument(oneLine(version))); err != nil {
		return fmt.Errorf("cannot set the application's version: %w", err)
	}
	return nil
}
