package action

import (
	"context"
	"errors"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// judge judges a unit by what this unit sees of the clusters.
type judge func(observe.Report, string) (status.Answer, error)

// okTo is an action that answers whether something may be done with a unit now. If the answer is no, it fails, for
// scripts.
func okTo(judge judge) func(context.Context, Unit, params) (results, error) {
	return func(ctx context.Context, u Unit, p params) (results, error) {
		unit, err := p.text("unit")
		if err != nil {
			return nil, err
		}
		snapshot, report := u.Observer.ObserveClusters(ctx, u.Tools)
		if snapshot.Application.Unread != nil {
			return nil, snapshot.Application.Unread
		}
		a, err := judge(report, unit)
		if err != nil {
			return nil, err
		}
		found := results{"ok": "true"}
		if len(a.Lines) > 0 {
			found["arithmetic"] = lines(a.Lines)
		}
		found.list("next", present.Ways(u.Env.Version, a.Down))
		if a.Against == nil {
			return found, nil
		}
		found["ok"], found["details"] = "false", present.Details(u.Env.Version, []finding.Finding{*a.Against})
		return found, errors.New(a.Against.Line())
	}
}
