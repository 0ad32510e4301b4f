package reconcile

import (
	"context"
	"maps"

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

// keepDeferred has the record keep what packages wanted to restart, and were refused, before
// the notes of that are removed: a hook that is killed in between must not lose a restart.
func (u *Reconciler) keepDeferred(ctx context.Context, r *record) {
	deferred, err := u.Policy.Deferred()
	if err == nil && len(deferred) > 0 {
		for service := range withDeferred(nil, deferred) {
			r.due(service, packageUpdate)
		}
		if err = u.saveRecord(r); err == nil {
			err = u.Policy.Forget(deferred)
		}
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot note what packages wanted to restart", "error", err)
	}
}

// withDeferred adds restarts that packages were refused to those that are due.
func withDeferred(pending map[ovndb.Service]string, deferred map[string]ovndb.Service) map[ovndb.Service]string {
	all := maps.Clone(pending)
	for _, service := range deferred {
		for _, due := range plan.RestartOrder() {
			if (service == due || service == ovndb.Umbrella) && all[due] == "" {
				if all == nil {
					all = map[ovndb.Service]string{}
				}
				all[due] = packageUpdate
			}
		}
	}
	return all
}
