package ovsctl

import "context"

// NorthdExit ends this unit's ovn-northd. Success only means that the exit has started.
func (c Control) NorthdExit(ctx context.Context) error {
	_, err := c.askNorthd(ctx, "exit")
	return err
}
