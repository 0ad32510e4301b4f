package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// stableFor is how long an ovn-controller must respond before gateways move to it. Its machine may just have come back,
// and its tunnels need a moment.
const stableFor = 5 * time.Second

// Undrain puts a node back: it ends the cordon, and gives the node the ranks from before its drain, as far as gateways
// and candidates still exist. It waits for the node's ovn-controller first, and for the gateways afterwards.
func (s *Service) Undrain(ctx context.Context, r Request) answer.Status {
	return s.confirmed(ctx, r, maintenance.OperationUndrain, s.undrain)
}

func (s *Service) undrain(ctx context.Context, r Request) answer.Status {
	x, n, refused := s.find(ctx, r.Node)
	switch {
	case refused != nil:
		return *refused
	case n.Drain == nil && n.Cordon != nil:
		return answer.New(answer.Success, n.Name()+" is not drained; it is cordoned",
			s.next(maintenance.OperationUncordon, n))
	case n.Drain == nil:
		return answer.New(answer.Success, n.Name()+" is not drained")
	case r.DryRun:
		p, err := s.Gateways.PlanUndrain(ctx, x.inventory, n.Chassis)
		if err != nil {
			return inaccessible(err)
		}
		return answer.New(answer.Success, fmt.Sprintf("dry run: undrain would interrupt %s for about a second; then %s",
			schedule.Count(p.Cost.Interruptions, "gateway"), restored(p.Changes, p.Blocked)), informed(p.Blocked)...)
	}
	x, n, refused = s.alive(ctx, n, r.Wait)
	switch {
	case refused != nil:
		return *refused
	case n.Drain == nil:
		return answer.New(answer.Success, n.Name()+" is no longer drained: the drain was undone meanwhile")
	}
	record := maintenance.DrainPair(n.Chassis, x.inventory.NB.IDs)
	if !n.Drain.Undrain || n.Cordon != nil {
		begin := maintenance.BeginUndrain(n.Chassis, *n.Drain, s.note(n, ""))
		err := s.amend(ctx, ovsdb.Guard{Has: record}, begin, journal.Writing{})
		switch {
		case errors.Is(err, ovsdb.ErrChanged):
			return s.unfinished(n, err)
		case err != nil:
			return inaccessible(err)
		}
		record = maintenance.DrainPair(n.Chassis, begin.Set)
	}
	return s.tagged(ctx, maintenance.OperationUndrain, n,
		func() answer.Status { return s.putBack(ctx, n, record, r.Wait) })
}

// putBack puts the ranks of a node back, and ends the drain if it still has this record. If the node was cordoned or
// drained meanwhile, the ranks are still needed, and the drain does not end.
func (s *Service) putBack(ctx context.Context, n maintenance.Node, record map[string]string,
	wait time.Duration,
) answer.Status {
	changed, first, err := s.Gateways.Undrain(ctx, n.Chassis)
	if err != nil {
		return s.unfinished(n, err)
	}
	forgotten, err := s.Gateways.Forgetting(ctx, n.Chassis)
	if err != nil {
		return s.unfinished(n, err)
	}
	key, value := cordon.Pair(n.Chassis)
	if err := s.amend(ctx, ovsdb.Guard{Has: record, Lacks: map[string]string{key: value}}, maintenance.End(n.Chassis),
		forgotten); err != nil {
		return s.unfinished(n, err)
	}
	details := informed(first.Blocked)
	if wait > 0 && len(changed) > 0 {
		s.progress(ctx, "undrain %s: the ranks are back; waiting until its gateways are bound and respond", n.Name())
		err := s.Gateways.Prove(ctx, changed, wait)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			f := about(n, finding.UndrainUnproved, finding.Cause(err).Args())
			var unproved *gateway.UnprovedError
			if errors.As(err, &unproved) {
				details = append(details, blocked(unproved.Findings)...)
				f.Remedies = []finding.Remedy{s.way(maintenance.OperationDrain, n)}
			}
			return s.refuse(answer.DrainNodeError, f, details...)
		}
	}
	return answer.New(answer.Success, n.Name()+" is in use again: "+restored(changed, first.Blocked), details...)
}

// restored describes how many gateways have the ranks from before the drain, and how many do not. blocked has the
// findings of the first plan.
func restored(changed []schedule.Change, blocked []finding.Finding) string {
	differ := map[string]bool{}
	for _, f := range blocked {
		differ[f.Subject.Name] = true
	}
	same := slices.DeleteFunc(slices.Clone(changed), func(c schedule.Change) bool { return differ[c.Group] })
	text := "the ranks of " + schedule.Count(gateway.Groups(same), "gateway") + " are as before"
	if len(differ) > 0 {
		text += fmt.Sprintf(", not those of %d", len(differ))
	}
	return text
}

func (s *Service) unfinished(n maintenance.Node, err error) answer.Status {
	f := about(n, finding.UndrainUnfinished, finding.Cause(err).Args(), s.way(maintenance.OperationUndrain, n))
	return s.refuse(answer.DrainNodeError, f)
}

// alive waits until the node's ovn-controller responds, and if there is time, until it has responded for [stableFor].
func (s *Service) alive(ctx context.Context, n maintenance.Node,
	wait time.Duration,
) (x snapshot, found maintenance.Node, refused *answer.Status) {
	if err := s.Gateways.SyncNorthd(ctx); err != nil { // after this, SB shows which ovn-controllers respond
		return x, n, new(s.unfinished(n, err))
	}
	var since time.Time
	said := maintenance.Life("")
	tell := func() {
		if n.Life != said && wait > 0 {
			said = n.Life
			s.progress(ctx, "undrain %s: its ovn-controller is %s; waiting until it has responded for %s", n.Name(), n.Life,
				stableFor)
		}
	}
	// The wait for the node begins only here: ovn-northd alone may take longer than the wait.
	if poll.Await(ctx, max(wait, stableFor)+stableFor, time.Second, tell, func() bool {
		if x, found, refused = s.find(ctx, maintenance.ByChassis(n.Chassis)); refused != nil {
			return true
		}
		n = found
		if n.Life.Down() {
			since = time.Time{}
			return false
		}
		now := s.Gateways.Now()
		if since.IsZero() {
			since = now
		}
		return wait == 0 || now.Sub(since) >= stableFor
	}) {
		return x, n, refused
	}
	return x, n, new(s.silent(ctx, n))
}

// silent returns the answer if the ovn-controller of a node has not responded for long enough.
func (s *Service) silent(ctx context.Context, n maintenance.Node) answer.Status {
	if ctx.Err() != nil {
		return s.unfinished(n, context.Cause(ctx))
	}
	f := about(n, finding.NodeSilent, finding.Args{Value: string(n.Life)}, s.way(maintenance.OperationUndrain, n))
	if n.Life == maintenance.Up {
		f.Args.Reasons = []finding.Reason{{Code: finding.NotYetStable, Age: stableFor}}
	}
	if n.Drain != nil && n.Drain.Undrain { // nothing else keeps gateways from the node
		f.Remedies = append(f.Remedies,
			finding.If(finding.ToKeepEmpty, s.command(maintenance.OperationDrain, n.Typed())))
	}
	return s.refuse(answer.Conflict, f)
}

// Admit makes the change of [maintenance.Admit], and returns the chassis that it has cordoned. It makes at most one
// transaction.
func (s *Service) Admit(ctx context.Context, inventory *gateway.Inventory,
	cordons bool,
) (cordoned []string, err error) {
	why := finding.Reason{Code: finding.ChassisIsNew}.String()
	a := maintenance.Admit(inventory.NB.IDs, inventory.State, cordons, s.note(maintenance.Node{}, why))
	if a.Empty() {
		return nil, nil
	}
	layout := inventory.Layout()
	for _, name := range a.New {
		layout = layout.WithCordon(name, true)
	}
	var tag journal.Writing
	if len(a.New) > 0 {
		if tag, err = s.Gateways.Tagging(ctx, "cordon", a.New[0], layout); err != nil {
			return nil, err
		}
	}
	return a.New, s.amend(ctx, ovsdb.Guard{Lacks: a.Lacks}, a.Change, tag)
}
