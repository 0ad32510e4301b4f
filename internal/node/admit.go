package node

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Admit cordons the chassis that can host gateways for the first time, and returns their names. It writes at most one
// transaction.
func (s *Service) Admit(ctx context.Context, inventory *gateway.Inventory) (cordoned []string, wrote bool, err error) {
	a := maintenance.Admit(inventory.NB.IDs, inventory.State)
	if a.Empty() {
		return nil, false, nil
	}
	change := a.Change(func(c schedule.Chassis) maintenance.Note {
		return s.note(maintenance.Node{Hostname: c.Hostname}, maintenance.NewChassis)
	})
	layout := inventory.Layout()
	for _, c := range a.New {
		layout = layout.WithCordon(c.Name, true)
		cordoned = append(cordoned, c.Name)
	}
	var tag ovsdb.Amendment
	if len(cordoned) > 0 {
		if tag, err = s.Gateways.Tagging(ctx, "cordon", cordoned[0], layout); err != nil {
			return nil, false, err
		}
	}
	return cordoned, true, s.amend(ctx, ovsdb.Guard{Lacks: a.Lacks()}, change, tag)
}

// EndAdmission ends the cordoning of new chassis; chassis that are cordoned stay cordoned.
func (s *Service) EndAdmission(ctx context.Context, inventory *gateway.Inventory) (wrote bool, err error) {
	change, ok := maintenance.EndAdmission(inventory.NB.IDs)
	if !ok {
		return false, nil
	}
	return true, s.amend(ctx, ovsdb.Guard{}, change, ovsdb.Amendment{})
}
