package agent

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// admit cordons chassis that can host gateways for the first time, or ends that if the configuration does not ask for
// it any more, and reports whether it has written anything.
func (g *gateways) admit(ctx context.Context, t turn) (wrote bool, _ time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	go g.whileHeld(ctx, t.value, cancel)
	s := &node.Service{Gateways: g.agent.service(t.value), Unit: g.agent.config.Unit}
	defer s.Close()
	if !t.live.CordonNew {
		wrote, err = s.EndAdmission(ctx, t.inventory)
		return wrote, 0, err
	}
	cordoned, wrote, err := s.Admit(ctx, t.inventory)
	if err == nil && len(cordoned) > 0 {
		g.agent.log.Warn("cordoned chassis that can host gateways for the first time", "chassis", shortened(cordoned))
	}
	return wrote, 0, err
}

// admits reports whether chassis that can host gateways have to be recorded, or need that no more.
func admits(live config.Config, inv *gateway.Inventory) bool {
	if !live.CordonNew {
		_, begun := maintenance.EndAdmission(inv.NB.IDs)
		return begun
	}
	return live.Mode == config.On && !maintenance.Admit(inv.NB.IDs, inv.State).Empty()
}
