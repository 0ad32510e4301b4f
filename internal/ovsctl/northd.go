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

// NorthdState is the state that an ovn-northd reports. One of all units' is active
// and the others are in standby, since they compete for a lock in SB.
type NorthdState string

// The states that ovn-northd prints (ovn_northd_status() in northd/ovn-northd.c).
const (
	NorthdActive  NorthdState = "active"
	NorthdStandby NorthdState = "standby"
	NorthdPaused  NorthdState = "paused"
)

// NorthdStatus asks this unit's ovn-northd how it is. One that does not run is
// [ErrNotRunning].
func (c Control) NorthdStatus(ctx context.Context) (NorthdState, error) {
	out, err := c.askNorthd(ctx, "status")
	if err != nil {
		return "", err
	}
	switch state := NorthdState(strings.TrimSpace(strings.TrimPrefix(out, "Status:"))); state {
	case NorthdActive, NorthdStandby, NorthdPaused:
		return state, nil
	}
	return "", fmt.Errorf("cannot read the status of ovn-northd: %.80q is none", out)
}

// askNorthd finds the control socket, which has the process ID in its name.
func (c Control) askNorthd(ctx context.Context, command string) (string, error) {
	text, err := os.ReadFile(c.Paths.NorthdPID())
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot ask ovn-northd for %s: %w", command, ErrNotRunning)
	} else if err != nil {
		return "", fmt.Errorf("cannot ask ovn-northd for %s: %w", command, err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return "", fmt.Errorf("cannot ask ovn-northd for %s: file %s has no process ID", command, c.Paths.NorthdPID())
	}
	socket := filepath.Join(c.Paths.Run, fmt.Sprintf("%s.%d.ctl", ovndb.Northd, pid))
	return c.read(ctx, string(ovndb.Northd), socket, command)
}

// NorthdConnected reports whether this unit's ovn-northd has both databases. Its
// status alone doesn't tell: it stays active if the Northbound database has no
// quorum. One that does not run is [ErrNotRunning].
func (c Control) NorthdConnected(ctx context.Context) (bool, error) {
	for _, command := range []string{"nb-connection-status", "sb-connection-status"} {
		text, err := c.askNorthd(ctx, command)
		if err != nil || strings.TrimSpace(text) != "connected" {
			return false, err
		}
	}
	return true, nil
}

// NorthdHealth is how this unit's ovn-northd is, as far as can be found out within
// the timeout of a question.
func (c Control) NorthdHealth(ctx context.Context) ovndb.NorthdHealth {
	connected, err := c.NorthdConnected(ctx)
	if err == nil && connected {
		var state NorthdState
		if state, err = c.NorthdStatus(ctx); err == nil {
			return ovndb.NorthdHealth(state)
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
