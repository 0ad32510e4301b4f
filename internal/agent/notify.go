package agent

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// What systemd is told (sd_notify(3)); nothing where NOTIFY_SOCKET isn't set.
const (
	ready    = daemon.SdNotifyReady
	stopping = daemon.SdNotifyStopping
)

func (a *Agent) notify(ctx context.Context, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		a.log.WarnContext(ctx, "cannot tell systemd", "state", state, "error", err)
	}
}

// watchdog has systemd know that the loop turns.
type watchdog struct {
	every  time.Duration // 0: systemd doesn't ask
	petted time.Duration
}

// watchdogPeriod is a third of WatchdogSec of the service; 0 where it has none.
func watchdogPeriod() time.Duration {
	period, err := daemon.SdWatchdogEnabled(false)
	if err != nil { // it is set for another process, or by hand
		return 0
	}
	return period / 3
}

func (w *watchdog) pet(now time.Duration) {
	if w.every == 0 || now-w.petted < w.every {
		return
	}
	w.petted = now
	_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) // systemd acts on what doesn't come
}
