package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Outlook finds out how the unit is, as [Unit.Converge] does in `update-status`, and
// makes no step: for actions that show it, or have changed what its status says. What
// is seen of the clusters is there with an error too, which is one of Juju's tools, or
// of what is on the machine.
func (u *Unit) Outlook(ctx context.Context) (Outcome, error) {
	o := Outcome{}
	o.Sight, o.Report = u.Members.LookAround(ctx, u.Tools)
	if err := o.Sight.Model.Unread; err != nil {
		return o, err
	}
	record, err := u.recall()
	if err != nil {
		return o, err
	}
	asked, err := u.ask(ctx, record, o.Sight.Model, !record.Settled)
	if err != nil {
		return o, err
	}
	o.unguarded = record.Unguarded
	if o.state, err = u.state(ctx, record, asked, o.Sight); err != nil {
		return o, err
	}
	o.Decision = plan.Decide(o.state)
	return o, nil
}
