package action

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// health summarizes all findings in one line, or lists them with their remedies.
func health(ctx context.Context, u Unit, p *params) (results, error) {
	detail := p.flag("detail")
	if err := p.err(); err != nil {
		return nil, err
	}
	all := u.look(ctx).findings
	found := results{"health": present.Health(all), "verdict": present.Verdict(all)}
	if detail && len(all) > 0 && !p.programs() {
		found["details"] = present.Details(u.Env.Version, all)
	}
	return found, u.addFindings(found, p, all)
}
