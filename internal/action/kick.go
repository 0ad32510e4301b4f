package action

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// kick removes what another unit left behind. The names of the two IDs differ
// between the specification and the charm that this one replaces.
func kick(name, sbKey, nbKey string) func(context.Context, Unit, params) (results, error) {
	return func(ctx context.Context, u Unit, p params) (results, error) {
		request, err := kickRequest(p, map[ovndb.Database]string{ovndb.SB: sbKey, ovndb.NB: nbKey})
		if err != nil {
			return nil, err
		}
		snapshot := u.Observer.Observe(ctx, u.Tools)
		outcomes, err := u.Members.Kick(ctx, snapshot.Application, request)
		if reasons := finding.Reasons(err); finding.Has(reasons, finding.Unconfirmed) {
			permits := []string{string(raft.PermitUnitInModel), string(raft.PermitForce)}
			err = u.unconfirmed(reasons[0], name, p, append([]string{sbKey, nbKey, "unit"}, permits...)...)
		}
		if err != nil {
			return nil, refused(err)
		}
		found := results{}
		var against []finding.Finding
		changed := false
		for _, o := range outcomes {
			said := []string{string(o.Outcome)}
			if o.Text != "" {
				said[0] += ": " + o.Text
			}
			for _, w := range o.Warnings {
				said = append(said, "warning: "+w.Message())
			}
			found["ovn"+o.Database.Short()] = lines(said)
			against = append(against, o.Against...)
			changed = changed || !request.DryRun && o.Outcome != membership.Refused && o.Outcome != membership.Untouched
		}
		if changed {
			u.refreshStatus(ctx)
		}
		return found, finding.Refuse(against)
	}
}

// refreshStatus sets the unit's status again, without a step: its text about the members is outdated. If the state
// can't be determined, the next hook does it.
func (u Unit) refreshStatus(ctx context.Context) {
	o, err := u.Reconciler.Plan(ctx)
	if err == nil {
		word, text := u.Reconciler.Status(o)
		err = u.Tools.StatusSet(ctx, word, text)
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot set the unit's status after the kick; the next hook does", "error", err)
	}
}

func kickRequest(p params, keys map[ovndb.Database]string) (r membership.KickRequest, err error) {
	r.IDs = map[ovndb.Database]raft.IDArgument{}
	for d, key := range keys {
		id, given, err := p.identity(key)
		if err != nil {
			return r, err
		}
		if given {
			r.IDs[d] = id
		}
	}
	if r.Unit, err = p.text("unit"); err != nil {
		return r, err
	}
	if r.Confirmed, err = p.flag("i-really-mean-it"); err != nil {
		return r, err
	}
	for _, permit := range []raft.Permit{raft.PermitUnitInModel, raft.PermitForce} {
		given, err := p.flag(string(permit))
		if err != nil {
			return r, err
		}
		if given {
			r.Permit = r.Permit.Stronger(permit)
		}
	}
	r.DryRun, err = p.flag("dry-run")
	return r, err
}
