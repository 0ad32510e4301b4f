package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// restarted are the services that were started again since they were last seen, by a reboot,
// systemd or an operator, and run what is installed: no restart of theirs is due any more.
func (r *record) restarted(services map[ovndb.Service]plan.ServiceState) (all []ovndb.Service) {
	for _, service := range plan.RestartOrder() {
		x, seen := services[service], r.Invocations[service]
		if x.Active && x.Invocation != "" && seen != "" && x.Invocation != seen && x.Installed {
			all = append(all, service)
		}
	}
	return all
}

// seen notes these restarts, and under which invocations the services run now.
func (r *record) seen(services map[ovndb.Service]plan.ServiceState, installed ovndb.Version) {
	if installed.OVN == "" {
		return
	}
	for _, service := range r.restarted(services) {
		r.started(service, installed)
	}
	for _, service := range plan.RestartOrder() {
		if x := services[service]; x.Active && x.Invocation != "" {
			if r.Invocations == nil {
				r.Invocations = map[ovndb.Service]string{}
			}
			r.Invocations[service] = x.Invocation
		}
	}
}

// dueRestarts are those of this unit's services: without the ones that others have made, which are
// yet to be noted, and with those that packages were refused.
func (r *record) dueRestarts(installed ovndb.Version, services map[ovndb.Service]plan.ServiceState, deferred map[string]ovndb.Service) map[ovndb.Service]string {
	all := r.pending(installed)
	for _, service := range r.restarted(services) {
		delete(all, service)
	}
	all = withDeferred(all, deferred)
	if r.NorthdHeld {
		delete(all, ovndb.Northd)
	}
	return all
}
