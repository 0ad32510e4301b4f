package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// attempts limits how often a change is judged again because other clients have changed the records meanwhile.
const attempts = 20

// Drain empties a node: it cordons the node, moves its gateways to others, and waits until nothing holds the node.
// The intent is in the database, so the drain continues if the command ends, and a second command joins the drain.
func (s *Service) Drain(ctx context.Context, r Request) answer.Status {
	return s.confirmed(ctx, r, maintenance.OperationDrain, s.drain)
}

func (s *Service) drain(ctx context.Context, r Request) answer.Status {
	r.Force = false // only a decommission proves that the node is unreachable
	n, refused := s.beginDrain(ctx, r)
	if refused != nil {
		return *refused
	}
	return s.tagged(ctx, maintenance.OperationDrain, n, func() answer.Status { return s.await(ctx, n, r) })
}

// beginDrain begins a drain and records its intent in the database. It returns no answer if the intent is recorded.
func (s *Service) beginDrain(ctx context.Context, r Request) (maintenance.Node, *answer.Status) {
	ends := func(status answer.Status) (maintenance.Node, *answer.Status) {
		return maintenance.Node{}, &status
	}
	if wrong := r.Limits.Check(); wrong != nil {
		return ends(*wrong)
	}
	limited, cancel := context.WithTimeoutCause(ctx, r.Limits.Timeout, timedOut(r.Limits.Timeout))
	defer cancel()
	for range attempts {
		n, refused, err := s.begin(limited, r)
		switch {
		case errors.Is(err, ovsdb.ErrChanged):
			continue // another node was cordoned: judge again
		case errors.Is(err, gateway.ErrBehind):
			return ends(s.tagged(ctx, maintenance.OperationDrain, n, func() answer.Status { // the intent is recorded
				return s.unfinishedDrain(n, finding.Cause(err), nil)
			}))
		case err != nil:
			return ends(inaccessible(err))
		}
		return n, refused
	}
	return ends(contended())
}

// begin records the intent, unless it is already recorded, or the drain is refused or a dry run. It asks every
// ovn-controller for a sign of life before anything moves.
func (s *Service) begin(ctx context.Context, r Request) (n maintenance.Node, status *answer.Status, err error) {
	x, err := s.observe(ctx)
	if err != nil {
		return n, nil, err
	}
	if n, status = x.resolve(r.Node); status != nil {
		return n, status, nil
	}
	p, err := s.Gateways.PlanDrain(ctx, x.inventory, n.Chassis)
	if err != nil {
		return n, nil, err
	}
	if stays := x.inventory.State.Moves(n.Chassis); r.retire && len(stays) > 0 { // a drain leaves disabled routers
		p.Blocked = schedule.SortFindings(append(p.Blocked, stays...))
		return n, new(s.blocked(x, n, p)), nil
	}
	if n.Drain != nil && !n.Drain.Undrain && n.Cordon != nil && !r.DryRun {
		s.progress(ctx, "drain %s: it was begun %s; continuing", n.Name(), n.Drain.Text())
		return n, nil, s.Gateways.SyncNorthd(ctx)
	}
	if len(p.Blocked) > 0 {
		return n, new(s.blocked(x, n, p)), nil
	}
	if r.DryRun {
		return n, new(s.shown(x, n, p, r)), nil
	}
	// This also stops an unfinished undrain, whose writes require its record and the absence of a cordon.
	guard := ovsdb.Guard{Has: maintenance.DrainPair(n.Chassis, x.inventory.NB.IDs), Lacks: map[string]string{}}
	mayHost := x.inventory.State.MayHost()
	for _, c := range x.inventory.State.Chassis {
		if mayHost[c.Name] && !c.Cordoned && c.Name != n.Chassis {
			key, value := cordon.Pair(c.Name)
			guard.Lacks[key] = value
		}
	}
	intent := maintenance.Begin(n.Chassis, s.note(n, r.Reason), r.Limits, n.Carried()...)
	change := ovsdb.Change{Guard: guard, Put: intent.Set, Drop: intent.Drop}
	if err := s.Gateways.WriteAndSync(ctx, change); err != nil {
		return n, nil, err
	}
	s.progress(ctx, "drain %s: cordoned; %s to write, of which %d move", n.Name(),
		schedule.Count(p.Cost.Gateways, "gateway"), p.Cost.Interruptions)
	return n, nil, nil
}

// cordonedInTheWay returns the cordoned nodes that could host blocked gateways if they were not cordoned.
func cordonedInTheWay(x snapshot, p schedule.Plan, chassis string) (all []string) {
	for _, c := range x.inventory.State.Chassis {
		if len(p.Blocked) == 0 || !c.Cordoned || c.Name == chassis {
			continue
		}
		state := x.inventory.State.WithCordon(c.Name, false)
		if len(schedule.Drain(state, chassis, nil).Blocked) < len(p.Blocked) {
			all = append(all, c.Name)
		}
	}
	return all
}

const namedNodes = 20

// blocked returns the answer if a drain would leave gateways on the node: pinned gateways, and gateways without another
// live, uncordoned chassis (R12).
func (s *Service) blocked(x snapshot, n maintenance.Node, p schedule.Plan) answer.Status {
	others := cordonedInTheWay(x, p, n.Chassis)
	f := about(n, finding.DrainBlocked, finding.Args{Count: len(p.Blocked)})
	if len(others) > 0 {
		named := slices.Clone(others[:min(namedNodes, len(others))])
		if more := len(others) - len(named); more > 0 {
			named = append(named, fmt.Sprintf("and %d more", more))
		}
		f.Args.Reasons = []finding.Reason{{Code: finding.CordonedCould, Value: strings.Join(named, ", ")}}
	}
	for _, name := range others {
		operation := maintenance.OperationUncordon
		if other, _ := maintenance.Resolve(x.nodes, maintenance.ByChassis(name)); other.Drain != nil {
			operation = maintenance.OperationUndrain
		}
		if _, unclear := maintenance.Resolve(x.nodes, name); unclear != nil {
			name = maintenance.ByChassis(name)
		}
		f.Remedies = append(f.Remedies, finding.Do(s.command(operation, name)))
	}
	return s.refuse(answer.Conflict, f, blocked(p.Blocked)...)
}

// unfinishedDrain returns the answer if the command ends before the drain. The drain's intent stays recorded.
func (s *Service) unfinishedDrain(n maintenance.Node, why finding.Reason, holds []maintenance.Hold,
	details ...answer.Message,
) answer.Status {
	f := about(n, finding.DrainUnfinished, why.Args())
	for _, h := range holds {
		if !h.Derived {
			f.Remedies = append(f.Remedies, s.way(maintenance.OperationRelease, n, "name", h.Name))
		}
	}
	f.Remedies = append(f.Remedies, s.way(maintenance.OperationDrain, n),
		finding.If(finding.ToPutBack, s.command(maintenance.OperationUndrain, n.Typed())))
	return s.refuse(answer.DrainNodeError, f, details...)
}

func blocked(findings []finding.Finding) (messages []answer.Message) {
	for _, f := range findings { // these commands are the same in every version of Juju
		text := present.InLine(juju.Version{}, f)
		messages = append(messages, answer.Message{
			Message: text, Error: true, Kind: answer.MessageGateway,
			Name: f.Subject.Name, Code: string(f.Code),
		})
	}
	return messages
}

// informed returns findings as messages that are not errors.
func informed(findings []finding.Finding) []answer.Message {
	messages := blocked(findings)
	for i := range messages {
		messages[i].Error = false
	}
	return messages
}

// shown returns the answer of a dry run. It names each port and each hold that the drain would wait for.
func (s *Service) shown(x snapshot, n maintenance.Node, p schedule.Plan, r Request) answer.Status {
	shown := answer.New(answer.Success, fmt.Sprintf("dry run: drain would change %s: %d move off %s, %d rank it last",
		schedule.Count(p.Cost.Gateways, "gateway"), p.Cost.Interruptions, n.Name(), p.Cost.Gateways-p.Cost.Interruptions))
	to := map[string]int{}
	for _, c := range p.Changes {
		if c.Interrupts {
			to[x.inventory.State.Claimant(c.After)]++
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(to), schedule.CompareNames) {
		text := schedule.Count(to[c], "gateway") + ", interrupted for about a second"
		shown = shown.With(answer.Message{Message: text, Kind: answer.MessageStep, Name: "to " + c})
	}
	waits := func(kind, name, why string) {
		shown = shown.With(answer.Message{Message: "would be waited for: " + why, Kind: kind, Name: name})
	}
	for _, port := range maintenance.Forecast(n.Chassis, p, x.inventory.State, x.bound, x.inventory.Unbound(n.Chassis)) {
		if !r.Force {
			waits(answer.MessageGateway, port.Port, port.Text())
		}
	}
	for _, h := range n.Holds {
		switch {
		case h.OfPorts(): // its ports are named above
		case h.Derived && !r.retire: // the unit's servers keep serving if the node is only rebooted
		default:
			waits(answer.MessageHold, h.Name, h.Detail(s.Gateways.Now(), time.Time{}))
		}
	}
	return shown
}

// await takes the steps of a drain until nothing holds the node, or a limit is reached.
func (s *Service) await(ctx context.Context, n maintenance.Node, r Request) answer.Status {
	d := maintenance.Drainer{
		Limits: r.Limits, Begun: s.Gateways.Now(), Own: true, Force: r.Force,
		Unasked: s.Gateways.NorthdTimeout == 0,
	}
	do := &commanded{effects: effects{s: s, chassis: n.Chassis}, name: n.Name()}
	for {
		begun := s.Gateways.Now()
		outcome, line, _, err := d.Step(ctx, do)
		do.tell(ctx, line, err)
		switch {
		case err != nil && errors.Is(ctx.Err(), context.Canceled):
			return s.unfinishedDrain(n, finding.Cause(context.Cause(ctx)), nil)
		case err != nil && (outcome == maintenance.TimeOver || ctx.Err() != nil):
			return s.unfinishedDrain(n, finding.Cause(err), nil)
		case outcome != maintenance.GoOn:
			return s.ended(n, outcome, d)
		}
		pause := min(max(shortestPause, restFactor*s.Gateways.Now().Sub(begun)), longestPause)
		if err == nil && !r.Force {
			err = do.rest(ctx, d.Progress, pause)
			d.Cleared(do.since)
		} else {
			err = poll.Wait(ctx, pause)
		}
		if err != nil {
			return s.unfinishedDrain(n, finding.Cause(context.Cause(ctx)), nil)
		}
	}
}

func (s *Service) ended(n maintenance.Node, outcome maintenance.Outcome, d maintenance.Drainer) answer.Status {
	p := d.Progress
	switch outcome {
	case maintenance.Drained:
		return answer.New(answer.Success, n.Name()+" is drained: it is empty, and nothing new is scheduled on it",
			s.next(maintenance.OperationUndrain, n))
	case maintenance.GivenUp:
		return s.refuse(answer.Conflict, about(n, finding.DrainUndone, finding.Args{}))
	}
	why := finding.Reason{Code: finding.AfterWaiting, Age: d.Limits.Timeout}
	if outcome == maintenance.GraceOver {
		why = finding.Reason{Code: finding.AfterGrace, Age: d.Limits.Grace}
	}
	why.Because = []finding.Reason{p.Reason()}
	left := blocked(p.Blocked)
	for _, name := range p.Unbound {
		left = append(left, answer.Message{
			Message: finding.Reason{Code: finding.NotBound}.String(), Error: true, Kind: answer.MessageGateway,
			Name: name,
		})
	}
	return s.unfinishedDrain(n, why, p.Holds, append(left, s.holds(p.Holds, d.Since())...)...)
}

// needConfirmation lists the operations that are refused without [Request.Confirmed], unless they are dry runs.
var needConfirmation = []string{
	maintenance.OperationDrain, maintenance.OperationUndrain,
	maintenance.OperationDecommission, maintenance.OperationRemove,
}

// unconfirmed refuses an operation. The answer has the commands for its dry run and for its confirmed run.
func (s *Service) unconfirmed(n maintenance.Node, operation string) answer.Status {
	return s.refuse(answer.BadRequest, about(n, finding.NodeUnconfirmed, finding.Args{},
		s.way(operation, n, "dry-run", "true"), s.way(operation, n)))
}

// confirmed runs an operation that interrupts traffic. If the request is not confirmed, it makes a dry run instead; its
// answer shows the result and asks for confirmation. It does not ask if the operation is refused or has nothing to do.
func (s *Service) confirmed(ctx context.Context, r Request, operation string,
	operate func(context.Context, Request) answer.Status,
) answer.Status {
	if r.DryRun || r.Confirmed {
		return operate(ctx, r)
	}
	r.DryRun = true
	would := operate(ctx, r)
	what, shown := strings.CutPrefix(would.Message, "dry run: ")
	if !would.OK() || !shown {
		return would
	}
	why := finding.Reason{Code: finding.InterruptsTraffic, Value: what}
	asked := answer.New(answer.BadRequest, why.String(), would.Details.MessageList...)
	asked.Metadata["finding"] = string(finding.Unconfirmed)
	return asked.With(s.typed(s.command(operation, r.Node)))
}
