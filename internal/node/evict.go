package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

const silenceInterval = 5 * time.Second

// unreachable waits until it is proved that a node can't be reached; the answer is nil then. It refuses if nothing
// would be forced.
func (s *Service) unreachable(ctx context.Context, n maintenance.Node) *answer.Status {
	refused := func(reason answer.Reason, code finding.Code, args finding.Args, details ...answer.Message) *answer.Status {
		return new(s.refuse(reason, about(n, code, args, s.way(maintenance.OperationDecommission, n)), details...))
	}
	if !slices.ContainsFunc(n.Holds, maintenance.Hold.OfPorts) {
		return refused(answer.Conflict, finding.NothingForced, finding.Args{})
	}
	if err := s.Gateways.SyncNorthd(ctx); err != nil { // it asks every ovn-controller for a sign of life
		return refused(answer.ClusterNotAccessible, finding.SilenceUnproved, finding.Args{Detail: err.Error()})
	}
	inventory, err := s.Gateways.Observe(ctx)
	if err != nil {
		return new(inaccessible(err))
	}
	p, err := s.Gateways.PlanDrain(ctx, inventory, n.Chassis)
	if err != nil {
		return new(inaccessible(err))
	}
	if len(p.Blocked) > 0 { // nothing would come of it, however long it is waited for
		return refused(answer.Conflict, finding.DrainBlocked, finding.Args{Count: len(p.Blocked)}, blocked(p.Blocked)...)
	}
	switch verdict, err := s.awaitVerdict(ctx, n); {
	case err != nil:
		return new(inaccessible(err))
	case verdict == maintenance.Unreachable:
		s.progress(ctx, "decommission %s: its ovn-controller is unreachable", n.Name())
		return nil
	case verdict == maintenance.Reachable:
		return refused(answer.Conflict, finding.NodeResponds, finding.Args{})
	case verdict == maintenance.Unprovable:
		return refused(answer.Conflict, finding.SilenceUnproved, finding.Args{})
	}
	return refused(answer.DisassociateFailure, finding.SilenceUnproved, finding.Args{Detail: context.Cause(ctx).Error()})
}

// awaitVerdict waits until it is known whether the node's ovn-controller can be reached. The verdict is
// [maintenance.Undecided] if ctx ends before that.
func (s *Service) awaitVerdict(ctx context.Context, n maintenance.Node) (verdict maintenance.Verdict, err error) {
	proof, said := maintenance.Silence{Chassis: n.Chassis}, false
	for {
		sb, err := gateway.Ask(ctx, s.Gateways, (*ovsdb.Gateways).Southbound)
		if err != nil {
			return verdict, err
		}
		signs := make([]maintenance.Sign, 0, len(sb.Chassis))
		for _, c := range sb.Chassis {
			if !c.Remote() {
				signs = append(signs, maintenance.Sign{
					Chassis: c.Name, Known: c.Known, Follows: c.Follows,
					Responds: sb.Responds(c),
				})
			}
		}
		verdict = proof.Observe(signs, s.Gateways.Now())
		if verdict == maintenance.Undecided && !said {
			said = true
			s.progress(ctx, "decommission %s: waiting 180 s to see whether its ovn-controller responds", n.Name())
		}
		if verdict != maintenance.Undecided || poll.Wait(ctx, silenceInterval) != nil {
			return verdict, nil //nolint:nilerr // if the time is over, it stays undecided
		}
	}
}

// evict takes all ports off a node that is unreachable, at once, as long as its ovn-controller does not respond. What
// they belong to may keep running.
func (s *Service) evict(ctx context.Context, n maintenance.Node) answer.Status {
	failed := func(err error) answer.Status {
		return answer.Of(answer.DrainNodeError, about(n, finding.NodesUnread, finding.Args{Detail: err.Error()}))
	}
	x, err := s.observe(ctx)
	if err != nil {
		return failed(err)
	}
	at := slices.IndexFunc(x.inventory.SB.Chassis, func(c ovsdb.ChassisRow) bool { return c.Name == n.Chassis })
	if at < 0 {
		return answer.New(answer.Success, "its chassis is gone, and with it what was bound to it")
	}
	was := x.inventory.SB.Chassis[at]
	if x.inventory.SB.Responds(was) {
		return answer.Of(answer.DrainNodeError, about(n, finding.NodeResponds, finding.Args{}))
	}
	released, err := gateway.Ask(ctx, s.Gateways, func(g *ovsdb.Gateways, ctx context.Context) (int, error) {
		return g.ReleasePorts(ctx, was, maintenance.HoldTypes())
	})
	if err != nil {
		return failed(err)
	}
	return answer.New(answer.Success, fmt.Sprintf("%d ports are released; virtual machines may run on there: "+
		"cut its power before they are started elsewhere", released))
}
