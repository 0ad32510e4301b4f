package action

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// kick removes the members of a unit that is gone. The specification and the previous charm use different names for
// the parameters of the two IDs.
func kick(name, sbKey, nbKey string) handler {
	read := func(p *params) membership.KickRequest { return kickRequest(p, sbKey, nbKey) }
	return reading(read, func(ctx context.Context, u Unit, p *params, request membership.KickRequest) (results, error) {
		snapshot := u.Observer.Observe(ctx, u.Tools)
		outcomes, err := u.Members.Kick(ctx, snapshot.Application, request)
		if reasons := finding.Reasons(err); finding.Has(reasons, finding.Unconfirmed) {
			err = u.unconfirmed(reasons[0], name, p, sbKey, nbKey, "unit",
				string(raft.PermitUnitInModel), string(raft.PermitForce))
		}
		if err != nil {
			return nil, refused(err)
		}
		found := results{}
		var against []finding.Finding
		changed := false
		for _, o := range outcomes {
			found["ovn"+o.Database.Short()] = lines(outcomeLines(o))
			against = append(against, o.Against...)
			changed = changed || o.Outcome != membership.Refused && o.Outcome != membership.Untouched
		}
		if changed && !request.DryRun {
			u.refreshStatus(ctx)
			u.tellPeers(ctx, snapshot.Application.Relations)
		}
		return found, finding.Refuse(against)
	})
}

func outcomeLines(o membership.KickResult) []string {
	said := []string{string(o.Outcome)}
	if len(o.Reasons) > 0 {
		said[0] += ": " + finding.Texts(o.Reasons)
	}
	for _, w := range o.Warnings {
		said = append(said, "warning: "+w.Message())
	}
	return said
}

// refreshStatus sets the unit's status, whose text about the members is outdated, without making a step. If that
// fails, the next hook sets it.
func (u Unit) refreshStatus(ctx context.Context) {
	o, err := u.Reconciler.Plan(ctx)
	if err == nil {
		_, err = u.setStatus(ctx, o)
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot set the unit's status after the kick; the next hook will", "error", err)
	}
}

// tellPeers makes Juju run a hook on each other unit, whose status may ask for the same kick. If that fails, their next
// update-status corrects it.
func (u Unit) tellPeers(ctx context.Context, relations []string) {
	for _, id := range relations {
		if err := u.Tools.RelationSet(ctx, id, relation.Kicked(u.Now())); err != nil {
			u.Log.WarnContext(ctx, "cannot tell the other units of the kick; their next hooks will see it", "error", err)
		}
	}
}

func kickRequest(p *params, sbKey, nbKey string) membership.KickRequest {
	r := membership.KickRequest{
		IDs: map[ovndb.Database]raft.IDArgument{}, Unit: p.text("unit"), Confirmed: p.flag("i-really-mean-it"),
		DryRun: p.flag("dry-run"),
	}
	if id, given := p.identity(nbKey); given {
		r.IDs[ovndb.NB] = id
	}
	if id, given := p.identity(sbKey); given {
		r.IDs[ovndb.SB] = id
	}
	for _, permit := range []raft.Permit{raft.PermitUnitInModel, raft.PermitForce} {
		if p.flag(string(permit)) {
			r.Permit = r.Permit.Stronger(permit)
		}
	}
	return r
}
