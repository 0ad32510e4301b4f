package agent

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notify sends a state to systemd (sd_notify(3)), if NOTIFY_SOCKET is set.
func (a *Agent) notify(ctx context.Context, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		a.log.WarnContext(ctx, "cannot tell systemd", "state", state, "error", err)
	}
}

// watchdogPeriod is a third of the service's WatchdogSec; 0 if it has none.
func watchdogPeriod() time.Duration {
	period, err := daemon.SdWatchdogEnabled(false)
	if err != nil { // set for another process, or by hand
		return 0
	}
	return period / 3
}

func (w *watchdog) kick(now time.Duration) {
	if w.every == 0 || now-w.kicked < w.every {
		return
	}
	w.kicked = now
	_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) // systemd reacts to missing messages
}
