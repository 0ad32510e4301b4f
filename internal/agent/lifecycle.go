package agent

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
)

// notify sends a state to systemd (sd_notify(3)), if NOTIFY_SOCKET is set.
func (a *Agent) notify(ctx context.Context, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		a.log.WarnContext(ctx, "cannot tell systemd", "state", state, "error", err)
	}
}

// watchdog tells systemd that the loop runs.
type watchdog struct {
	every  time.Duration // 0: systemd doesn't ask
	kicked time.Duration
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

// live is the current configuration.
func (a *Agent) live() config.Config { return *a.current.Load() }

// Reload replaces the configuration and makes new connections read the credentials again. If either is invalid it
// changes nothing. If a part that is fixed at the start has changed, [Agent.Run] releases the lease and returns; then
// [Agent.Again] returns the configuration to run with.
func (a *Agent) Reload(c config.Config) error {
	if _, err := check(c); err != nil {
		return err
	}
	a.log.Info("read the configuration again", "mode", c.Mode, "restarts", a.config.Restarts(c))
	a.current.Store(&c)
	a.dialer.Forget()
	a.wakeGateways()
	a.peers.client.CloseIdleConnections()
	if a.config.Restarts(c) {
		if a.next.Swap(&c) == nil {
			close(a.quit)
		}
	}
	return nil
}

// Again returns the configuration for another run, after [Agent.Run] has returned; ok is false if the agent should end.
func (a *Agent) Again() (c config.Config, ok bool) {
	if next := a.next.Load(); next != nil {
		return *next, true
	}
	return config.Config{}, false
}
