package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/agentservice"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// agentManager keeps the agent of a unit with that record.
func (u *Reconciler) agentManager(r *record) *agentservice.Manager {
	return &agentservice.Manager{Program: u.Program, Paths: u.Paths, Services: u.Services, State: r.state, Log: u.Log}
}

// agentSnapshot is what the agent's service follows from.
func (u *Reconciler) agentSnapshot(p pass) agentservice.Snapshot {
	a, o := p.inputs, p.result
	s := agentservice.Snapshot{Paused: o.state.Paused, Ready: o.Decision.Ready, Thorough: a.thorough}
	if agentOptionsInvalid(a.invalid) {
		return s
	}
	agent := a.settings.Agent
	s.Options = &agentservice.Options{
		Unit: u.Env.Unit, Mode: agent.Mode, TTL: agent.TTL, HoldDown: agent.HoldDown, NeutronGateways: agent.NeutronGateways,
		CordonNew: agent.CordonNew, Port: agent.Port, BackupInterval: a.settings.Backup.Interval,
		Address: a.address, Peers: o.Snapshot.Application.PeerAddresses(),
	}
	return s
}

// agentOptionsInvalid says whether an option of the agent can't be used: it goes on then as
// it was told before.
func agentOptionsInvalid(invalid map[string]string) bool {
	return slices.ContainsFunc([]string{
		plan.OptionAgentMode, plan.OptionLeaseTTL, plan.OptionAgentPort, plan.OptionHoldDown, plan.OptionNeutronGateways, plan.OptionCordonNew,
	}, func(option string) bool { return invalid[option] != "" })
}

// HaltAgent stops the agent, so that another unit's takes over at once. Where it can't be
// stopped, that comes later: the others see that this unit doesn't act.
func (u *Reconciler) HaltAgent(ctx context.Context) {
	r, err := u.loadRecord()
	if err == nil {
		err = errors.Join(u.agentManager(r).Halt(ctx), u.saveRecord(r))
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot stop the agent", "error", err)
	}
}
