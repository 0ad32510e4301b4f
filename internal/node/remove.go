package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/shell"
)

// deadFor is how long an ovn-controller must not respond before it counts as dead. A slow one would make its row again.
const deadFor = 15 * time.Second

// Remove deletes a node's rows in SB and all records of it. It does so only if the node is dead, nothing holds it, and
// no gateway has it as a candidate (R13).
func (s *Service) Remove(ctx context.Context, r Request) answer.Status {
	if r.DryRun {
		_, n, refused := s.removable(ctx, r)
		if refused != nil {
			return *refused
		}
		return answer.New(answer.Success, "dry run: "+n.Name()+" would be removed")
	}
	// Finding out whether the node exists needs neither Juju nor ovn-northd.
	_, n, refused := (&Service{Gateways: s.Gateways, Command: s.Command}).find(ctx, r.Node)
	if refused != nil {
		return *refused
	}
	r.Node = maintenance.ByChassis(n.Chassis)
	if err := s.Gateways.SyncNorthd(ctx); err != nil { // after this, SB shows which ovn-controllers respond
		return s.notRemoved(n, err)
	}
	return s.removeOnceDead(ctx, r)
}

func (s *Service) notRemoved(n maintenance.Node, err error, ways ...finding.Remedy) answer.Status {
	f := about(n, finding.NodeNotRemoved, finding.Cause(err).Args(), ways...)
	return s.refuse(answer.DeleteNodeError, f)
}

// removeOnceDead waits for [deadFor], unless the chassis is already gone, and removes the node. It judges the node
// again before each attempt.
func (s *Service) removeOnceDead(ctx context.Context, r Request) answer.Status {
	begun, changed, said := s.Gateways.Now(), 0, false
	for {
		x, n, refused := s.removable(ctx, r)
		switch {
		case refused != nil:
			return *refused
		case n.Life == maintenance.Absent || s.Gateways.Now().Sub(begun) >= deadFor:
			removed, err := s.remove(ctx, x, n)
			if err == nil {
				return s.tagged(ctx, maintenance.OperationRemove, n, func() answer.Status { return removed })
			}
			if changed++; !errors.Is(err, ovsdb.ErrChanged) || changed >= attempts {
				return s.notRemoved(n, err, s.way(maintenance.OperationRemove, n))
			}
			s.progress(ctx, "remove %s: it was used meanwhile; judging it again", n.Name())
		case !said:
			said = true
			s.progress(ctx, "remove %s: waiting %.0f s to see whether its ovn-controller responds", n.Name(),
				deadFor.Seconds())
		}
		if poll.Wait(ctx, time.Second) != nil {
			return s.notRemoved(n, context.Cause(ctx))
		}
	}
}

// removable finds the node that a request should remove. The answer is nil if the node may be removed.
func (s *Service) removable(ctx context.Context, r Request) (snapshot, maintenance.Node, *answer.Status) {
	x, n, refused := s.find(ctx, r.Node)
	if refused == nil {
		refused = s.keeps(x, n)
	}
	if refused == nil && !r.DryRun && !r.Confirmed {
		refused = new(s.unconfirmed(n, maintenance.OperationRemove))
	}
	return x, n, refused
}

// keeps returns why a node may not be removed, or nil if it may (R13).
func (s *Service) keeps(x snapshot, n maintenance.Node) *answer.Status {
	var why []answer.Message
	switch n.Life {
	case maintenance.Up:
		why = append(why, s.detail(answer.MessageStep, n.Chassis, about(n, finding.NodeResponds, finding.Args{})))
	case maintenance.VTEP:
		why = append(why, s.detail(answer.MessageStep, n.Chassis, about(n, finding.NodeIsVTEP, finding.Args{})))
	}
	for _, unknown := range x.charm.Unknown {
		why = append(why, s.detail(answer.MessageHold, maintenance.HoldMember,
			about(n, finding.MachineUnknown, unknown.Args())))
	}
	why = append(why, s.holds(n.Holds, time.Time{})...)
	for _, g := range slices.SortedFunc(slices.Values(x.inventory.State.Groups), func(a, b schedule.Group) int {
		return schedule.CompareNames(a.Name, b.Name)
	}) {
		for i, name := range g.Ranked() {
			if name == n.Chassis {
				f := finding.New(finding.NodeCandidate, finding.Subject{Name: g.Name},
					finding.Args{Count: i + 1, Total: len(g.Candidates)})
				why = append(why, s.detail(answer.MessageGateway, g.Name, f))
			}
		}
	}
	why = append(why, blocked(x.inventory.State.Moves(n.Chassis))...)
	why = append(why, blocked(x.inventory.Ignored(n.Chassis))...)
	for _, name := range x.inventory.Unused(n.Chassis) {
		m := s.detail(answer.MessageGateway, name,
			finding.New(finding.NodeInUnusedGroup, finding.Subject{Name: name}, finding.Args{}))
		m.Message += ": run: " + leaves(name, n)
		why = append(why, m)
	}
	if len(why) == 0 {
		return nil
	}
	f := about(n, finding.NodeKept, finding.Args{Count: len(why)})
	switch {
	case n.Life == maintenance.VTEP:
		f.Remedies = []finding.Remedy{finding.ByHand(finding.ForgetSwitch), s.way(maintenance.OperationRemove, n)}
	case slices.ContainsFunc(x.inventory.State.PinnedTo(n.Chassis), func(p schedule.Pinned) bool { return p.OfNode }):
		f.Remedies = []finding.Remedy{finding.ByHand(finding.RemoveNodeInCMS), s.way(maintenance.OperationRemove, n)}
	case n.First+n.Backups > 0:
		f.Remedies = []finding.Remedy{s.way(maintenance.OperationDecommission, n)}
	case n.Life == maintenance.Up:
		f.Remedies = []finding.Remedy{finding.ByHand(finding.StopController), s.way(maintenance.OperationRemove, n)}
	}
	return new(s.refuse(answer.Conflict, f, why...))
}

// leaves returns the command that takes a node out of a group which no port uses.
func leaves(group string, n maintenance.Node) string {
	return shell.Line("ovn-nbctl", "ha-chassis-group-remove-chassis", group, n.Chassis)
}

// remove deletes the node's rows if it is unchanged since it was judged, and then its records if no gateway has it as a
// candidate. Otherwise it returns [ovsdb.ErrChanged].
func (s *Service) remove(ctx context.Context, x snapshot, n maintenance.Node) (answer.Status, error) {
	was := ovsdb.ChassisRow{Name: n.Chassis}
	for _, row := range x.inventory.SB.Chassis {
		if row.Name == n.Chassis {
			was = row
		}
	}
	if err := s.Gateways.With(ctx,
		func(g *ovsdb.Gateways) error { return g.RemoveChassis(ctx, was, maintenance.HoldTypes()) }); err != nil {
		return answer.Status{}, err
	}
	forgotten, err := s.Gateways.Forgetting(ctx, n.Chassis)
	if err != nil {
		return answer.Status{}, err
	}
	if err := s.amend(ctx, ovsdb.Guard{NoCandidate: n.Chassis},
		maintenance.Erase(n.Chassis, maintenance.ParseRecords(x.inventory.NB.IDs)), forgotten); err != nil {
		return answer.Status{}, err
	}
	return answer.New(answer.Success, n.Name()+" is removed: its chassis, and all records of it; cut its power, or "+
		"remove its packages: an ovn-controller that starts makes the chassis again"), nil
}
