package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Pauses between two observations while a decommission waits.
const (
	memberInterval = 5 * time.Second
	readyInterval  = 30 * time.Second
)

// Decommission empties a node for good: it drains the node, takes it out of all lists of candidates, and waits until
// the charm's units and members on its machine have left. The clusters must be healthy without it, before and at the
// end. The answer names each step that is done. If the command was interrupted, it can be run again.
func (s *Service) Decommission(ctx context.Context, r Request) answer.Status {
	x, n, refused := s.find(ctx, r.Node)
	switch {
	case refused != nil:
		return *refused
	case n.Life == maintenance.VTEP:
		return s.refuse(answer.Conflict, about(n, finding.NodeIsVTEP, finding.Args{},
			finding.ByHand(finding.ForgetSwitch), s.way(maintenance.OperationRemove, n)))
	case slices.Contains(n.Held(maintenance.HoldMember).Examples, s.Unit):
		return s.refuse(answer.Conflict, about(n, finding.NodeOfUnit,
			finding.Args{Unit: s.Unit, Detail: finding.Said(n.Held(maintenance.HoldMember).Reason)}))
	case !r.DryRun && !r.Confirmed:
		return s.unconfirmed(n, maintenance.OperationDecommission)
	}
	if wrong := r.Limits.Check(); wrong != nil {
		return *wrong
	}
	if refused := s.mayGo(ctx, n, x.charm.Unknown, r.MinMembers); refused != nil {
		return *refused
	}
	if r.Force {
		if refused := s.unreachable(ctx, n, r.DryRun); refused != nil {
			return *refused
		}
	}
	r.Node, r.retire = maintenance.ByChassis(n.Chassis), true
	begun, status := s.beginDrain(ctx, r)
	if status != nil && r.DryRun && status.OK() {
		return status.With(s.laterSteps(n, r.Force)...)
	}
	if status != nil && (r.DryRun || status.Reason == answer.BadRequest || status.Reason == answer.Conflict) {
		return *status
	}
	if status != nil {
		return s.decommission(ctx, r, x, n, *status)
	}
	return s.tagged(ctx, maintenance.OperationDecommission, n, func() answer.Status {
		return s.decommission(ctx, r, x, n, s.await(ctx, begun, r))
	})
}

// laterSteps describes the steps of a decommission after its drain, for a dry run.
func (s *Service) laterSteps(n maintenance.Node, force bool) (steps []answer.Message) {
	step := func(name, text string) {
		steps = append(steps, answer.Message{Message: text, Kind: answer.MessageStep, Name: name})
	}
	step("clear-labels", "would take it out of the candidates of "+schedule.Count(n.First+n.Backups, "gateway"))
	if force {
		ports := 0
		for _, h := range n.Holds {
			if h.OfPorts() {
				ports += h.Count
			}
		}
		text := fmt.Sprintf("would unbind up to %s, once its ovn-controller is proved unreachable",
			schedule.Count(ports, "port"))
		if n.Life == maintenance.Up {
			text += "; " + finding.Reason{Code: finding.RefusedIfResponds}.String()
		}
		step("evict", text)
	}
	if h := n.Held(maintenance.HoldMember); h.Count > 0 {
		step("remove-member", "would wait until these have left: "+strings.Join(h.Examples, ", "))
	}
	if s.Health != nil {
		step("cluster-ready", "would wait until the clusters are healthy without it")
	}
	step("shutdown", "would check that its ovn-controller is stopped")
	return steps
}

func (s *Service) decommission(ctx context.Context, r Request, x snapshot, n maintenance.Node,
	drained answer.Status,
) answer.Status {
	var steps, ways []answer.Message
	for _, step := range []struct {
		name string
		do   func() answer.Status
	}{
		{"drain", func() answer.Status { return drained }},
		{"clear-labels", func() answer.Status { return s.retire(ctx, n, r.Clear) }},
		{"evict", func() answer.Status { return s.evict(ctx, n) }},
		{"remove-member", func() answer.Status { return s.awaitMembers(ctx, n, r.Member) }},
		{"cluster-ready", func() answer.Status { return s.awaitReady(ctx, n, r.Ready, r.MinMembers) }},
		{"shutdown", func() answer.Status {
			stopped, responds := s.shutdown(ctx, n)
			if responds {
				f := about(n, finding.NodeResponds, finding.Args{}, finding.ByHand(finding.StopController))
				ways = append(ways, s.remedy(f, f.Remedies[0])) // a node that responds can't be removed
			}
			return stopped
		}},
	} {
		if step.name == "evict" && !r.Force {
			continue
		}
		if step.name != "drain" { // it has ended
			s.progress(ctx, "decommission %s: %s", n.Name(), step.name)
		}
		done := step.do()
		steps = append(steps, stepMessage(step.name, done))
		if !done.OK() {
			steps = append(steps, slices.DeleteFunc(done.Details.MessageList,
				func(m answer.Message) bool { return m.Kind == answer.MessageNext })...)
			f := about(n, finding.DecommissionFailed, finding.Args{Value: step.name, Detail: finding.Said(done.Message)},
				s.waysToDecommission(n, r.Force)...)
			return s.refuse(answer.DisassociateFailure, f, steps...)
		}
	}
	for _, group := range x.inventory.Unused(n.Chassis) { // no step changes it, and a member can't be removed
		ways = append(ways, answer.Message{Message: leaves(group, n), Kind: answer.MessageNext, Name: group})
	}
	if r.DropFiles {
		ways = append(ways, answer.Message{Message: "on its machine, delete what a unit of this charm has left: " +
			"rm /var/lib/ovn/*.left-*", Kind: answer.MessageNext, Name: "files"})
	}
	done := n.Name() + " is decommissioned: nothing needs it any more"
	if slices.ContainsFunc(steps, func(m answer.Message) bool { return m.Skipped }) {
		done = n.Name() + " is decommissioned, except for the steps that were skipped"
	}
	return answer.New(answer.Success, done, steps...).
		With(append(ways, s.next(maintenance.OperationRemove, n))...)
}

// skipped is the key of the metadata of an answer about a step that was not made.
const skipped = "skipped"

// skip returns the answer of a step that could not be made. It does not end a decommission.
func skip(why finding.Reason) answer.Status {
	s := answer.New(answer.Success, why.String())
	s.Metadata[skipped] = "true"
	return s
}

// stepMessage returns the message about one step of a decommission.
func stepMessage(name string, done answer.Status) answer.Message {
	m := answer.Message{Message: done.Message, Error: !done.OK(), Kind: answer.MessageStep, Name: name}
	if m.Skipped = done.Metadata[skipped] != ""; !m.Skipped {
		m.Message = fmt.Sprintf("%s (%d): %s", done.Reason, done.Code, done.Message)
	}
	return m
}

// waysToDecommission returns the commands after a failed step. A silent node may be off: then only force takes its
// ports off it.
func (s *Service) waysToDecommission(n maintenance.Node, force bool) []finding.Remedy {
	ways := []finding.Remedy{s.way(maintenance.OperationDecommission, n)}
	if n.Life == maintenance.Unresponsive && !force {
		ways = append(ways, finding.If(finding.OnceMachineOff,
			s.command(maintenance.OperationDecommission, n.Typed(), "force", "true")))
	}
	return ways
}

// ClearLabels takes a drained node out of all lists of candidates. This is one step of a decommission.
func (s *Service) ClearLabels(ctx context.Context, r Request) answer.Status {
	_, n, refused := s.find(ctx, r.Node)
	switch {
	case refused != nil:
		return *refused
	case n.Drain == nil:
		return s.refuse(answer.Conflict, about(n, finding.NodeNotDrained, finding.Args{},
			s.way(maintenance.OperationDrain, n)))
	}
	return s.tagged(ctx, "clear-labels", n, func() answer.Status { return s.clear(ctx, n, r.Clear) })
}

// retire takes a drained node out of all lists of candidates, and notes that in the record of its drain.
func (s *Service) retire(ctx context.Context, n maintenance.Node, timeout time.Duration) answer.Status {
	cleared := s.clear(ctx, n, timeout)
	if !cleared.OK() {
		return cleared
	}
	return again(func() (answer.Status, error) {
		x, found, refused := s.find(ctx, maintenance.ByChassis(n.Chassis))
		if refused != nil || found.Drain == nil || found.Drain.Retired { // the note is for people only
			return cleared, nil
		}
		record := ovsdb.Guard{Has: maintenance.DrainPair(n.Chassis, x.inventory.NB.IDs)}
		return cleared, s.amend(ctx, record, maintenance.Retire(n.Chassis, *found.Drain), journal.Writing{})
	})
}

func (s *Service) clear(ctx context.Context, n maintenance.Node, timeout time.Duration) answer.Status {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, timedOut(timeout))
	defer cancel()
	changed, err := s.Gateways.Clear(ctx, n.Chassis)
	if err != nil {
		return unread(answer.ClearLabelsError, n, err)
	}
	x, err := s.observe(ctx)
	if err != nil {
		return unread(answer.ClearLabelsError, n, err)
	}
	if left := schedule.Clear(x.inventory.State, n.Chassis); len(left.Blocked) > 0 {
		return s.refuse(answer.ClearLabelsError, about(n, finding.StillCandidate, finding.Args{Count: len(left.Blocked)}),
			blocked(left.Blocked)...)
	}
	if len(changed) == 0 {
		return answer.New(answer.Success, "it is not a candidate of any gateway")
	}
	done := "taken out of the candidates of " + schedule.Count(len(changed), "gateway")
	if n.Gateway {
		done += "; as long as it may host gateways, Neutron may add it again"
	}
	return answer.New(answer.Success, done)
}

// shutdown only observes: it can't reach anything on the machine. responds is false only if the ovn-controller is known
// not to respond.
func (s *Service) shutdown(ctx context.Context, n maintenance.Node) (done answer.Status, responds bool) {
	_, found, refused := s.find(ctx, maintenance.ByChassis(n.Chassis))
	switch {
	case refused == nil && found.Life == maintenance.Up:
		return skip(finding.Reason{Code: finding.StillResponds}), true
	case refused != nil && refused.Reason != answer.NotFound:
		return skip(finding.Reason{Code: finding.ResponseUnknown, Value: refused.Message}), true
	}
	return answer.New(answer.Success, "its ovn-controller does not respond"), false
}

const silenceInterval = 5 * time.Second

// unreachable waits until it is proved that a node can't be reached, and then returns nil. It refuses if force would
// have no effect. A dry run does not wait: it asks no ovn-controller for a sign of life.
func (s *Service) unreachable(ctx context.Context, n maintenance.Node, dryRun bool) *answer.Status {
	refused := func(reason answer.Reason, code finding.Code, args finding.Args, details ...answer.Message) *answer.Status {
		return new(s.refuse(reason, about(n, code, args, s.way(maintenance.OperationDecommission, n)), details...))
	}
	if !slices.ContainsFunc(n.Holds, maintenance.Hold.OfPorts) {
		return refused(answer.Conflict, finding.NothingForced, finding.Args{})
	}
	if dryRun {
		return nil
	}
	if err := s.Gateways.SyncNorthd(ctx); err != nil { // this asks every ovn-controller for a sign of life
		return refused(answer.ClusterNotAccessible, finding.SilenceUnproved, finding.Cause(err).Args())
	}
	inventory, err := s.Gateways.Observe(ctx)
	if err != nil {
		return new(inaccessible(err))
	}
	p, err := s.Gateways.PlanDrain(ctx, inventory, n.Chassis)
	if err != nil {
		return new(inaccessible(err))
	}
	if len(p.Blocked) > 0 { // waiting would not help
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
	return refused(answer.DisassociateFailure, finding.SilenceUnproved, finding.Cause(context.Cause(ctx)).Args())
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

// evict takes all ports off an unreachable node at once, unless its ovn-controller responds. Virtual machines with
// these ports may keep running.
func (s *Service) evict(ctx context.Context, n maintenance.Node) answer.Status {
	x, err := s.observe(ctx)
	if err != nil {
		return unread(answer.DrainNodeError, n, err)
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
		return unread(answer.DrainNodeError, n, err)
	}
	return answer.New(answer.Success, schedule.Count(released, "port")+" released; virtual machines may run on there: "+
		"cut its power before they are started elsewhere")
}

func unread(reason answer.Reason, n maintenance.Node, err error) answer.Status {
	return answer.Of(reason, about(n, finding.NodesUnread, finding.Cause(err).Args()))
}
