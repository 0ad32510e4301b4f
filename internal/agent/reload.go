package agent

import "github.com/ovn-central/ovn-central-operator/internal/agent/config"

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
