package juju

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// agentService is the agent as a service, like jujud's: it is restarted when it fails, and when the machine is. It ends
// with success when its unit is gone; a hook that runs when it is stopped runs to its end.
const agentService = `[Unit]
Description=Juju agent of %[1]s
After=network.target

[Service]
ExecStart=%[2]s/juju-runner agent --dir %[2]s --unit %[1]s --data-dir /var/lib/juju
Restart=on-failure
RestartSec=1
KillMode=process

[Install]
WantedBy=multi-user.target
`

// AddUnit adds a unit on a machine, without its agent: nothing runs yet.
func (a *Application) AddUnit(ctx context.Context, m *machines.Machine) (string, error) {
	var answer struct{ Unit string }
	err := a.do(ctx, "add-unit", map[string]any{"addresses": []string{m.Address().String()}}, &answer)
	if err == nil {
		a.Machines[answer.Unit] = m
	}
	return answer.Unit, err
}

// StartAgent starts the agent of a unit on its machine.
func (a *Application) StartAgent(ctx context.Context, unit string) error {
	m, service := a.Machines[unit], AgentService(unit)
	if err := m.WriteFile("/etc/systemd/system/"+service, fmt.Appendf(nil, agentService, unit, Mount), 0o644); err != nil {
		return fmt.Errorf("cannot start the agent of %s: %w", unit, err)
	}
	if _, err := m.Shell(ctx, `systemctl daemon-reload; systemctl enable -q --now "$1"`, service); err != nil {
		return fmt.Errorf("cannot start the agent of %s: %w", unit, err)
	}
	return nil
}

// StopAgent stops the agent of a unit until it is started or its machine is.
func (a *Application) StopAgent(ctx context.Context, unit string) error {
	_, err := a.Machines[unit].Exec(ctx, "systemctl", "stop", AgentService(unit))
	return err
}

// RestartAgent implements [cluster.Application].
func (a *Application) RestartAgent(ctx context.Context, unit string) error {
	_, err := a.Machines[unit].Exec(ctx, "systemctl", "restart", AgentService(unit))
	return err
}

// AgentService returns the name of the service that is a unit's agent.
func AgentService(unit string) string {
	return "jujud-unit-" + strings.ReplaceAll(unit, "/", "-") + ".service"
}

// Certificates is the endpoint to whose other side the CA listens.
const Certificates = "certificates"

// Certify has the CA answer new requests or, with again, all of them.
func (a *Application) Certify(ctx context.Context, again bool) error {
	if a.relation(Certificates) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	requests, err := a.Data(ctx, Certificates)
	if err != nil {
		return err
	}
	answers, served := map[string]string{}, map[string]string{}
	for requester, bag := range requests {
		request, err := json.Marshal(bag) // sorted by key
		if err != nil {
			return err
		}
		if len(bag) == 0 || !again && a.answered[requester] == string(request) {
			continue
		}
		answer, err := a.CA.Answer(requester, bag)
		if err != nil {
			return err
		}
		maps.Copy(answers, answer)
		served[requester] = string(request)
	}
	if len(served) == 0 {
		return nil
	}
	// At once, as in one hook of the CA's charm.
	if err := a.RemoteSet(ctx, Certificates, "vault/0", answers); err != nil {
		return err
	}
	maps.Copy(a.answered, served)
	return nil
}

// ReplaceCA replaces the CA by another, which answers all requests again.
func (a *Application) ReplaceCA(ctx context.Context, ca *vault.CA) error {
	a.mu.Lock()
	a.CA = ca
	a.mu.Unlock()
	return a.Certify(ctx, true)
}
