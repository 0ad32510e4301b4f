package ovsctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// NorthdStatus returns the status of this unit's ovn-northd: active, standby or paused (ovn_northd_status() in
// northd/ovn-northd.c). They compete for a lock in SB, so only one unit's is active. If ovn-northd does not run, the
// error is [ErrNotRunning].
func (c Control) NorthdStatus(ctx context.Context) (ovndb.NorthdHealth, error) {
	out, err := c.askNorthd(ctx, "status")
	if err != nil {
		return "", err
	}
	switch state := ovndb.NorthdHealth(strings.TrimSpace(strings.TrimPrefix(out, "Status:"))); state {
	case ovndb.NorthdActive, ovndb.NorthdStandby, ovndb.NorthdPaused:
		return state, nil
	}
	return "", fmt.Errorf("cannot read the status of ovn-northd: unexpected output %.80q", out)
}

// askNorthd runs a command on ovn-northd. The name of its control socket contains its process ID.
func (c Control) askNorthd(ctx context.Context, command string) (string, error) {
	text, err := os.ReadFile(c.Paths.NorthdPID())
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotRunning
	}
	if err != nil {
		return "", fmt.Errorf("cannot ask ovn-northd for %s: %w", command, err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return "", fmt.Errorf("cannot ask ovn-northd for %s: file %s has no process ID", command, c.Paths.NorthdPID())
	}
	socket := filepath.Join(c.Paths.Run, fmt.Sprintf("%s.%d.ctl", ovndb.Northd, pid))
	return c.read(ctx, string(ovndb.Northd), socket, command)
}

// NorthdConnected reports whether this unit's ovn-northd is connected to both databases. Its status does not show
// that: it stays active if NB has no quorum. If ovn-northd does not run, the error is [ErrNotRunning].
func (c Control) NorthdConnected(ctx context.Context) (bool, error) {
	for _, command := range []string{"nb-connection-status", "sb-connection-status"} {
		text, err := c.askNorthd(ctx, command)
		if err != nil || strings.TrimSpace(text) != "connected" {
			return false, err
		}
	}
	return true, nil
}

// NorthdHealth returns the health of this unit's ovn-northd.
func (c Control) NorthdHealth(ctx context.Context) ovndb.NorthdHealth {
	connected, err := c.NorthdConnected(ctx)
	if err == nil && connected {
		var state ovndb.NorthdHealth
		if state, err = c.NorthdStatus(ctx); err == nil {
			return state
		}
	}
	switch {
	case err == nil:
		return ovndb.NorthdUnconnected
	case errors.Is(err, ErrNotRunning):
		return ovndb.NorthdDown
	}
	return ovndb.NorthdUnresponsive
}
