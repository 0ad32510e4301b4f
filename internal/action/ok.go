package action

import (
	"context"
	"errors"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// okTo is an action that reports whether something may be done with a unit now. For scripts, it fails if not.
func okTo(judge func(observe.Report, string) (status.Answer, error)) handler {
	return func(ctx context.Context, u Unit, p *params) (results, error) {
		unit := p.text("unit")
		if err := p.err(); err != nil {
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
