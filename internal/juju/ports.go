package juju

import (
	"context"
	"fmt"
	"strconv"
)

// OpenPorts asks Juju to let others reach TCP ports of this unit, for all
// endpoints; it does so where the application is exposed. One that is open
// already is no error. They are opened once the hook has ended well.
func (t *Tools) OpenPorts(ctx context.Context, ports ...int) error {
	return t.eachPort(ctx, "open", ports)
}

// ClosePorts takes back what [Tools.OpenPorts] has asked for, once the hook has
// ended well. One that is not open is no error.
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

// ApplicationVersionSet shows the version of what the unit runs in `juju status`.
// It is seen at once and stays even if the hook fails.
func (t *Tools) ApplicationVersionSet(ctx context.Context, version string) error {
	if err := t.tell(ctx, "application-version-set", "--", argument(oneLine(version))); err != nil {
		return fmt.Errorf("cannot set the application's version: %w", err)
	}
	return nil
}
