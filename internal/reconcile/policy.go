package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// configurePolicy keeps packages from restarting services, or lets them, as the option
// says. What goes wrong with it fails no hook: it is recorded, for the status, and tried
// again in the next one.
func (u *Reconciler) configurePolicy(ctx context.Context, r *record, a inputs) {
	if !a.thorough && r.PolicyFailure == "" || a.invalid[plan.OptionAutoRestarts] != "" {
		return
	}
	change := u.Policy.Allow
	if !a.settings.AutoRestarts {
		change = func() error { return u.Policy.Forbid(ctx) }
	}
	r.PolicyFailure = ""
	if err := change(); err != nil {
		r.PolicyFailure = firstLine(err.Error())
		u.Log.WarnContext(ctx, "cannot set whether packages may restart services", "error", err)
	}
}

// packageUpdate is the reason that charm-helpers' policy-rc.d gives (policy_rc_d_script.py).
const packageUpdate = "Package update"

// takeDeferred puts what packages wanted to restart, and were refused, to what is to be
// restarted.
func (u *Reconciler) takeDeferred(r *record) {
	services, err := u.Policy.TakeDeferred()
	if err != nil {
		u.Log.Warn("cannot read what packages wanted to restart", "error", err)
	}
	for _, service := range services {
		for _, due := range plan.RestartOrder() {
			if service == due || service == ovndb.Umbrella {
				r.due(due, packageUpdate)
			}
		}
	}
}
