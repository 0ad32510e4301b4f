// Package hook runs Juju's hooks. Each is short: it observes, calls one service, publishes and reports. Most do the
// same, since any of them may be the first to see a change.
package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// timeout limits a whole hook. The longest regular one is a `stop` that waits for another unit's change and then for
// its own two leaves at the largest election timer, 60 s.
const timeout = 20 * time.Minute

var handlers = hooks()

// hooks returns the unit's hooks, and the hooks of each relation.
func hooks() map[string]func(context.Context, *reconcile.Reconciler) error {
	all := map[string]func(context.Context, *reconcile.Reconciler) error{
		"install":                 install,
		"upgrade-charm":           reconcileUnit,
		"config-changed":          reconcileUnit,
		"start":                   reconcileUnit,
		"update-status":           updateStatus,
		"leader-elected":          reconcileUnit,
		"leader-settings-changed": reconcileUnit,
		"stop":                    stop,
		"remove":                  remove,
	}
	for _, event := range []string{"created", "joined", "changed", "departed", "broken"} {
		for _, endpoint := range relation.Endpoints() {
			all[endpoint+"-relation-"+event] = reconcileUnit
		}
		all["coordinator-relation-"+event] = unused
	}
	all[relation.Peer+"-relation-broken"] = peerBroken
	return all
}

// Names returns the hooks that have a handler, sorted.
func Names() []string { return slices.Sorted(maps.Keys(handlers)) }

// Run runs a hook. An unknown hook is no error: a newer Juju may have more.
func Run(ctx context.Context, u *reconcile.Reconciler, name string) error {
	handle, known := handlers[name]
	if !known {
		u.Log.InfoContext(ctx, "no handler for this hook", "hook", name)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := handle(ctx, u); err != nil {
		return fmt.Errorf("cannot finish hook %s: %w", name, err)
	}
	return nil
}

// install fails if the packages can't be installed, so that Juju soon retries.
func install(ctx context.Context, u *reconcile.Reconciler) error {
	if err := u.ForgetFormer(ctx); err != nil {
		return err
	}
	o, err := reconcileAndReport(ctx, u, true)
	if err != nil {
		return err
	}
	return o.Failure
}

// reconcileUnit brings the unit as close as possible to its wanted state, after any change.
func reconcileUnit(ctx context.Context, u *reconcile.Reconciler) error {
	_, err := reconcileAndReport(ctx, u, true)
	return err
}

// updateStatus observes less, since Juju has reported no change. It also ends intents of this unit that a restart has
// cancelled.
func updateStatus(ctx context.Context, u *reconcile.Reconciler) error {
	if _, err := reconcileAndReport(ctx, u, false); err != nil {
		return err
	}
	u.Members.ClearEndedIntents(ctx)
	return nil
}

func reconcileAndReport(ctx context.Context, u *reconcile.Reconciler, thorough bool) (reconcile.Result, error) {
	o, err := u.Reconcile(ctx, thorough)
	if err != nil {
		return o, err
	}
	word, text := u.Status(o)
	return o, u.Tools.StatusSet(ctx, word, text)
}

// unused is a hook of the peer relation that exists only because the Python charm had it: the other peer relation has
// the same events.
func unused(context.Context, *reconcile.Reconciler) error { return nil }

// remove leaves the machine in a state in which it can host another unit.
func remove(ctx context.Context, u *reconcile.Reconciler) error { return u.Remove(ctx) }

// stop is a finalizer (R9): it fails while leaving would break a quorum. The servers then continue to serve, and Juju
// retries.
func stop(ctx context.Context, u *reconcile.Reconciler) error {
	return finalize(ctx, u, u.Observer.Observe(ctx, u.Tools))
}

// peerBroken does the work of `stop` in a unit that is being removed. Juju 4 doesn't wait for `stop` once the unit is
// in no relation, which is the case after this hook if the unit's agent has restarted. While this hook fails, the
// unit stays in the relation. `stop` then has nothing left to do, or does everything if this hook did not run. In a
// unit that stays, the relation can't be used any more, and nothing depends on it.
func peerBroken(ctx context.Context, u *reconcile.Reconciler) error {
	snapshot := u.Observer.Observe(ctx, u.Tools)
	switch {
	case snapshot.Application.Goal == nil:
		return fmt.Errorf("cannot find out whether this unit is being removed: %w; Juju tries again",
			snapshot.Application.Unread)
	case !snapshot.Application.Dying(u.Env.Unit):
		return nil
	}
	err := finalize(ctx, u, snapshot)
	if reasons := finding.Reasons(err); len(reasons) > 0 {
		return finding.Refuse(reasons, finding.Remedy{When: finding.IfHookSkipped, Deed: finding.SkipStopToo})
	}
	return err
}

// finalize removes the unit from both clusters, or fails.
func finalize(ctx context.Context, u *reconcile.Reconciler, snapshot observe.Snapshot) error {
	if snapshot.Application.OthersStay() {
		u.Admit(ctx, snapshot.Application)
	}
	snapshot, waiting, err := u.PrepareToLeave(ctx, snapshot)
	var results []membership.LeaveResult
	if err == nil {
		results, err = u.Members.Stop(ctx, snapshot.Application, snapshot.Cache)
	}
	for _, f := range results {
		text := f.Database.Short() + ": " + finding.Texts(f.Reasons)
		u.Log.InfoContext(ctx, text) //nolint:sloglint // for people, as the hook's result
	}
	if err != nil {
		reasons, args := finding.Reasons(err), finding.Args{}
		if len(waiting) > 0 { // its server stops by itself, or by the remedy in its finding
			waiting[0].Remedies = nil
			reasons = append(waiting[:1], reasons...)
		} else if len(reasons) == 0 {
			args.Detail = finding.Said(err.Error())
		}
		blocked := finding.New(finding.LeaveBlocked, finding.Subject{Name: u.Env.Unit},
			args).As(finding.Error).Because(reasons...)
		word, text := present.Workload(u.Env.Version, []finding.Finding{blocked})
		if failed := u.Tools.StatusSet(ctx, word, text); failed != nil {
			u.Log.WarnContext(ctx, "cannot set the status", "error", failed)
		}
		return err
	}
	own := remaining(snapshot.Own, results)
	u.Observer.ForgetServers(ctx, snapshot.Cache, own)
	// The servers are gone. If the relation still exists, remove their identities, too.
	for _, id := range snapshot.Application.Relations {
		if err := u.Tools.RelationSet(ctx, id, own.Databag()); err != nil {
			u.Log.WarnContext(ctx, "cannot remove what this unit has published", "error", err)
		}
	}
	return nil
}

// remaining returns the identities of the servers that have not left.
func remaining(own relation.Identities, results []membership.LeaveResult) relation.Identities {
	kept := maps.Clone(own)
	for _, f := range results {
		if f.Gone {
			delete(kept, f.Database)
		}
	}
	return kept
}
