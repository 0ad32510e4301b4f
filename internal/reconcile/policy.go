package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// configurePolicy keeps packages from restarting services, or lets them, as the option
// says. What goes wrong with it fails no hook.
func (u *Reconciler) configurePolicy(ctx context.Context, a *inputs) {
	if !a.thorough || a.invalid[plan.OptionAutoRestarts] != "" {
		return
	}
	change := u.Policy.Allow
	if !a.settings.AutoRestarts {
		change = func() error { return u.Policy.Forbid(ctx) }
	}
	if err := change(); err != nil {
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
