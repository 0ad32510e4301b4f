package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Times of the steps of a decommission, as the specification has them by default.
const (
	DefaultClearTimeout  = 1800 * time.Second
	DefaultMemberTimeout = 1800 * time.Second
	DefaultReadyTimeout  = 600 * time.Second

	memberInterval = 5 * time.Second
	readyInterval  = 30 * time.Second
)

// DecommissionRequest is a node that is to be retired.
type DecommissionRequest struct {
	Node, Reason string
	Drain        maintenance.Limits
	// Clear, Member and Ready bound the other steps.
	Clear, Member, Ready time.Duration
	// MinMembers is how many members of each database must be up in the end; 0 is a majority.
	MinMembers        int
	DryRun, Confirmed bool
	// Force is for a node that is proved unreachable: its ports are taken off it.
	Force bool
	// DropFiles has the answer say how to delete what a member leaves on the machine; nothing
	// does it from elsewhere.
	DropFiles bool
}

// Decommission empties a node for good: it is drained, taken out of all lists of candidates,
// the units on its machine are waited for, and the clusters must be well without them. Each
// step that is done is said to be, so that it can be run again after it was cut short.
func (s *Service) Decommission(ctx context.Context, r DecommissionRequest) maintenance.Status {
	n, refused := s.find(ctx, r.Node)
	switch {
	case refused != nil:
		return *refused
	case slices.Contains(n.Held(maintenance.HoldMember).Examples, s.Unit):
		return maintenance.NewStatus(maintenance.Conflict, s.Unit+" is on the machine of "+n.Name()+" itself: run this on another unit")
	case !r.DryRun && !r.Confirmed:
		return maintenance.NewStatus(maintenance.BadRequest, "this takes "+n.Name()+" out of the cloud: confirm it", s.next(maintenance.OperationDecommission, n, "i-really-mean-it", "true"))
	}
	if wrong := r.Drain.Check(); wrong != nil {
		return *wrong
	}
	if r.Force && !r.DryRun {
		if refused := s.unreachable(ctx, n); refused != nil {
			return *refused
		}
	}
	begun, answer := s.beginDrain(ctx, DrainRequest{Node: n.Chassis, Reason: r.Reason, Limits: r.Drain, DryRun: r.DryRun, Force: r.Force})
	if answer != nil && (r.DryRun || answer.Reason == maintenance.BadRequest) {
		return *answer
	}
	if answer != nil {
		return s.decommission(ctx, r, n, *answer)
	}
	return s.tagged(ctx, maintenance.OperationDecommission, n, func() maintenance.Status {
		return s.decommission(ctx, r, n, s.await(ctx, begun, r.Drain, r.Force))
	})
}

// decommission makes the steps behind the drain.
func (s *Service) decommission(ctx context.Context, r DecommissionRequest, n maintenance.Node, drained maintenance.Status) maintenance.Status {
	var steps []maintenance.Message
	for _, step := range []struct {
		name string
		do   func() maintenance.Status
	}{
		{"drain", func() maintenance.Status { return drained }},
		{"clear-labels", func() maintenance.Status { return s.clear(ctx, n, r.Clear) }},
		{"evict", func() maintenance.Status { return s.evict(ctx, n) }},
		{"remove-member", func() maintenance.Status { return s.awaitMembers(ctx, n, r.Member) }},
		{"cluster-ready", func() maintenance.Status { return s.awaitReady(ctx, r.Ready, r.MinMembers) }},
		{"shutdown", func() maintenance.Status { return s.shutdown(ctx, n) }},
	} {
		if step.name == "evict" && !r.Force {
			continue
		}
		done := step.do()
		s.progress(ctx, "decommission %s: %s: %s", n.Name(), step.name, done.Message)
		steps = append(steps, maintenance.Message{Message: fmt.Sprintf("%s (%d): %s", done.Reason, done.Code, done.Message), Error: !done.OK(), Kind: maintenance.MessageStep, Name: step.name})
		if !done.OK() {
			steps = append(steps, slices.DeleteFunc(done.Details.MessageList, func(m maintenance.Message) bool { return m.Kind == maintenance.MessageNext })...)
			return maintenance.NewStatus(maintenance.DisassociateFailure, fmt.Sprintf("%s is not decommissioned: step %s: %s", n.Name(), step.name, done.Message), steps...).
				With(s.next(maintenance.OperationDecommission, n, "i-really-mean-it", "true"))
		}
	}
	if r.DropFiles {
		steps = append(steps, maintenance.Message{Message: "what a unit of this charm has left stays on the machine, renamed; delete it there: rm /var/lib/ovn/*.left-*", Kind: maintenance.MessageStep, Name: "files"})
	}
	return maintenance.NewStatus(maintenance.Success, n.Name()+" is decommissioned: nothing needs it any more", steps...).
		With(s.next(maintenance.OperationRemove, n, "i-really-mean-it", "true"))
}

// ClearLabels takes a node that is drained out of all lists of candidates: that step of a
// decommission alone.
func (s *Service) ClearLabels(ctx context.Context, id string, timeout time.Duration) maintenance.Status {
	n, refused := s.find(ctx, id)
	switch {
	case refused != nil:
		return *refused
	case n.Drain == nil:
		return maintenance.NewStatus(maintenance.Conflict, n.Name()+" is not drained: it hosts gateways, or may get them again", s.next(maintenance.OperationDrain, n))
	}
	return s.tagged(ctx, "clear-labels", n, func() maintenance.Status { return s.clear(ctx, n, timeout) })
}

// RemoveMember waits until the units on a node's machine have left: that step of a decommission
// alone.
func (s *Service) RemoveMember(ctx context.Context, id string, timeout time.Duration) maintenance.Status {
	n, refused := s.find(ctx, id)
	if refused != nil {
		return *refused
	}
	return s.awaitMembers(ctx, n, timeout)
}

// Health is how both clusters are, by what a unit has observed of them. One that was not looked
// at counts as one that can't be accessed.
func Health(seen observe.Report) (all []maintenance.DatabaseHealth) {
	for _, d := range ovndb.Databases() {
		one := maintenance.DatabaseHealth{Name: string(d), Why: "it was not looked at"}
		for _, c := range seen.Clusters {
			if c.Database == d {
				_, leads := c.View.Leader()
				one.Accessible, one.Why = c.Condition == ovndb.Serving, string(c.Condition)
				one.Leader, one.Members, one.Up = leads, c.Quorum.Members, c.Quorum.Up
			}
		}
		all = append(all, one)
	}
	return all
}

// clear takes the node out of all lists of candidates.
func (s *Service) clear(ctx context.Context, n maintenance.Node, timeout time.Duration) maintenance.Status {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s are over", timeout))
	defer cancel()
	failed := func(why string, details ...maintenance.Message) maintenance.Status {
		return maintenance.NewStatus(maintenance.ClearLabelsError, why, details...)
	}
	changed, err := s.Gateways.Clear(ctx, n.Chassis)
	if err != nil {
		return failed(err.Error())
	}
	x, err := s.look(ctx)
	if err != nil {
		return failed(err.Error())
	}
	if left := schedule.Clear(x.inventory.State, n.Chassis); len(left.Blocked) > 0 {
		return failed(fmt.Sprintf("it remains a candidate of %d gateways", len(left.Blocked)), blocked(left.Blocked)...)
	}
	if len(changed) == 0 {
		return maintenance.NewStatus(maintenance.Success, "it is a candidate of no gateway already")
	}
	done := fmt.Sprintf("taken out of the candidates of %d gateways", len(changed))
	if n.Gateway {
		done += "; as long as its ovn-cms-options have enable-chassis-as-gw Neutron may add it again"
	}
	return maintenance.NewStatus(maintenance.Success, done)
}

// awaitMembers waits until the units on the node's machine have left.
func (s *Service) awaitMembers(ctx context.Context, n maintenance.Node, timeout time.Duration) maintenance.Status {
	begun, said := s.Gateways.Now(), ""
	for {
		found, refused := s.find(ctx, n.Chassis)
		var units []string
		switch {
		case refused == nil:
			units = found.Held(maintenance.HoldMember).Examples
		case refused.Reason != maintenance.NotFound: // the chassis may go meanwhile
			return maintenance.NewStatus(maintenance.RemoveMemberError, refused.Message)
		}
		if len(units) == 0 {
			if said == "" {
				return maintenance.NewStatus(maintenance.Success, "no unit of this application is on its machine")
			}
			return maintenance.NewStatus(maintenance.Success, said+" has left")
		}
		if names := strings.Join(units, " "); names != said {
			said = names
			s.progress(ctx, "waiting for %s to leave: run: juju remove-unit %s", said, said)
		}
		if s.Gateways.Now().Sub(begun) >= timeout || poll.Wait(ctx, min(memberInterval, timeout)) != nil {
			return maintenance.NewStatus(maintenance.RemoveMemberError, fmt.Sprintf("%s is still in the application after %s: run: juju remove-unit %s", said, timeout, said))
		}
	}
}

// awaitReady waits until every database is healthy.
func (s *Service) awaitReady(ctx context.Context, timeout time.Duration, minMembers int) maintenance.Status {
	if s.Health == nil {
		return maintenance.NewStatus(maintenance.Success, "the health of the clusters is not known from here: see cluster-health")
	}
	begun := s.Gateways.Now()
	for {
		all := s.Health(ctx)
		health := maintenance.ClusterHealth(all, minMembers)
		if maintenance.AllHealthy(all, minMembers) {
			return health
		}
		s.progress(ctx, "waiting for the clusters: %s", health.Message)
		if s.Gateways.Now().Sub(begun) >= timeout || poll.Wait(ctx, min(readyInterval, timeout)) != nil {
			health.Reason, health.Code, health.Status = maintenance.ClusterNotAccessible, maintenance.ClusterNotAccessible.Code(), "Failure"
			return health
		}
	}
}

// shutdown only looks: nothing on the machine can be reached from here.
func (s *Service) shutdown(ctx context.Context, n maintenance.Node) maintenance.Status {
	found, refused := s.find(ctx, n.Chassis)
	if refused == nil && found.Life == maintenance.Up {
		return maintenance.NewStatus(maintenance.Success, "WARNING: its ovn-controller still responds: stop it, before remove-node")
	}
	return maintenance.NewStatus(maintenance.Success, "its ovn-controller does not respond")
}
