package action

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// health says in one line whether anything is wrong, or lists it with the ways out.
func health(ctx context.Context, u Unit, p params) (results, error) {
	detail, err := p.flag("detail")
	if err != nil {
		return nil, err
	}
	format, err := p.format()
	if err != nil {
		return nil, err
	}
	all := u.look(ctx).findings
	found := results{"health": present.Health(all), "verdict": present.Verdict(all)}
	if format == "yaml" || format == "json" {
		found["findings"], err = rendered(format, present.Documents(u.Env.Version, all), nil)
		return found, err
	}
	if detail && len(all) > 0 {
		found["details"] = present.Details(u.Env.Version, all)
	}
	return found, nil
}
