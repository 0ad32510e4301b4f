package agent

import "github.com/ovn-central/ovn-central-operator/internal/agent/config"

// live is the configuration as it is now.
func (a *Agent) live() config.Config { return *a.current.Load() }

// Reload takes another configuration, and has the credentials read again, for new
// connections. Where one of these can't be used it changes nothing. What can't change while
// the agent runs makes [Agent.Run] give the lease up and return; [Agent.Again] says
// then with what to run again.
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
		if a.again.Swap(&c) == nil {
			close(a.quit)
		}
	}
	return nil
}

// Again is the configuration with which the agent is to be run again, after [Agent.Run] has
// returned; ok is false where it is not to be.
func (a *Agent) Again() (c config.Config, ok bool) {
	if next := a.again.Load(); next != nil {
		return *next, true
	}
	return config.Config{}, false
}
