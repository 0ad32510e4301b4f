package converge

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/deploy"
)

// Outlook finds out how the unit is, as [Unit.Converge] does in `update-status`, and
// makes no step. It is for actions that have changed what the unit's status says. The
// error is one of Juju's tools, or of what is on the machine.
func (u *Unit) Outlook(ctx context.Context) (Outcome, error) {
	record, err := u.recall()
	if err != nil {
		return Outcome{}, err
	}
	sight, report := u.Members.LookAround(ctx, u.Tools)
	if err := sight.Model.Unread; err != nil {
		return Outcome{}, err
	}
	asked, err := u.ask(ctx, record, sight.Model, !record.Settled)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Sight: sight, Report: report, unguarded: record.Unguarded}
	if o.state, err = u.state(ctx, record, asked, sight); err != nil {
		return o, err
	}
	o.Decision = deploy.Decide(o.state)
	return o, nil
}
