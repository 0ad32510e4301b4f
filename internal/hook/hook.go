// Package hook has the hooks that Juju runs. Each is short: it observes, calls one service, publishes and reports. Most
// do the same, since any of them may be the first to see a change.
package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// timeout limits a whole hook. The longest honest one is a `stop` that waits for another unit's change and then for its
// own two leaves at the largest election timer, 60 s.
const timeout = 20 * time.Minute

var handlers = hooks()

// hooks are the unit's hooks, and those of each relation.
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
	for _, endpoint := range relation.Endpoints() {
		for _, event := range []string{"created", "joined", "changed", "departed", "broken"} {
			all[endpoint+"-relation-"+event] = reconcileUnit
		}
	}
	for _, event := range []string{"created", "joined", "changed", "departed", "broken"} {
		all["coordinator-relation-"+event] = unused
	}
	all[relation.Peer+"-relation-broken"] = peerBroken
	return all
}

// Names lists the hooks that are handled, sorted.
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

// updateStatus observes less, since Juju knows about no change. It also ends what this unit has begun and a restart has
// undone.
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
