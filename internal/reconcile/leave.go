package reconcile

import (
	"context"
	"errors"
	"sync"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/operate"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ufw"
)

// PrepareToLeave makes the steps that must precede the leave of a unit's servers in its `stop`. While `stop` fails,
// no other hook runs. It returns the findings for which a recovery waits, and refuses as
// [steps.Unit.PutAwaySuperseded] does.
func (u *Reconciler) PrepareToLeave(
	ctx context.Context, snapshot observe.Snapshot,
) (after observe.Snapshot, waiting []finding.Finding, err error) {
	r, err := u.loadRecord()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read this unit's own record; continuing without it", "error", err)
	} else {
		snapshot, waiting = u.finishRecoveries(ctx, r, snapshot)
	}
	snapshot, err = r.PutAwaySuperseded(ctx, snapshot)
	if err == nil && r.Paused && snapshot.Application.OthersStay() {
		snapshot = u.resumeToLeave(ctx, r, snapshot)
	}
	return snapshot, waiting, err
}

// finishRecoveries makes the steps of a recovery that [plan.Decide] assigns to a unit that is being removed. It
// returns the findings for which they wait. If Juju does not answer, it does nothing: `stop` needs no relation.
func (u *Reconciler) finishRecoveries(
	ctx context.Context, r *record, snapshot observe.Snapshot,
) (after observe.Snapshot, waiting []finding.Finding) {
	m := snapshot.Application
	if m.Unread != nil || !m.OthersStay() || !r.Recovery.Involved(ctx, m) {
		return snapshot, nil
	}
	var o Result
	o.Snapshot, o.Thorough = snapshot, true
	err := u.askJuju(ctx, r, &o.Facts)
	if err == nil {
		_, err = u.converge(ctx, r, &o)
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot do this unit's part of the recovery; continuing", "error", err)
		return o.Snapshot, nil
	}
	for _, f := range o.Decision.Findings {
		if f.Severity == finding.Waiting {
			waiting = append(waiting, f)
		}
	}
	return o.Snapshot, waiting
}

// resumeToLeave starts the servers of a paused unit that is being removed while others stay: a stopped server can't
// leave, and a removal must leave no member behind (R9). It is one bounded attempt.
func (u *Reconciler) resumeToLeave(ctx context.Context, r *record, snapshot observe.Snapshot) observe.Snapshot {
	r.Paused = false
	if err := r.Save(); err != nil {
		u.Log.WarnContext(ctx, "cannot note that the unit is resumed; leaving its servers stopped", "error", err)
		return snapshot
	}
	var wg sync.WaitGroup
	for _, db := range ovndb.Databases() {
		if l := snapshot.Servers[db]; l.Condition != ovndb.Down || r.Recovery.Held[db] != "" {
			continue
		}
		wg.Go(func() {
			log := u.Log.With("database", db.Short())
			log.InfoContext(ctx, "starting the server that a pause has stopped, so that it can leave")
			if err := r.StartOne(ctx, ovndb.ServiceOf(db)); err != nil {
				log.WarnContext(ctx, "cannot start the server; continuing without it", "error", err)
			}
		})
	}
	wg.Wait()
	return u.Observer.Refresh(ctx, snapshot)
}

// HaltAgent stops the agent, so that another unit's agent takes over at once. If that fails, the takeover comes
// later, when the others see that this unit doesn't act.
func (u *Reconciler) HaltAgent(ctx context.Context) {
	r, err := u.loadRecord()
	if err == nil {
		err = errors.Join(r.agent.Halt(ctx), u.saveRecord(r))
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot stop the agent", "error", err)
	}
}

// Admit lets the other units connect, in addition to the hosts that may already connect. While this unit waits to
// leave with the only copy, its only hook is `stop`, which must let new units in. The clients are not known there.
func (u *Reconciler) Admit(ctx context.Context, m observe.Application) {
	peers := m.PeerAddresses()
	if len(peers) == 0 {
		return
	}
	err := u.Firewall.Admit(ctx, peers)
	if err != nil && !errors.Is(err, ufw.ErrAbsent) && !errors.Is(err, ufw.ErrInactive) {
		u.Log.WarnContext(ctx, "cannot let the other units in", "error", err)
	}
}

// Remove removes from the machine everything that would endanger a later unit: the key, the package sources, the
// firewall's rules, the options of the services, which stay masked, this unit's state, and a cluster that was never
// put in place.
func (u *Reconciler) Remove(ctx context.Context) error {
	r, err := u.loadRecord()
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read this unit's own record; continuing without it", "error", err)
	}
	var failures []error
	for _, remove := range []func(context.Context) error{
		r.Firewall.Remove, r.guard.Remove, r.backups.Remove, r.agent.Remove, r.Packages.Remove,
	} {
		failures = append(failures, remove(ctx))
	}
	failures = append(failures, r.Recovery.PutAwayStaged(ctx, nil), u.Services.Mask(ctx, operate.Services()...))
	c := u.Control.Paths.Credentials()
	return errors.Join(append(failures, atomicfile.Remove(c.Key, c.Certificate, c.CA, u.Control.Paths.Defaults(),
		u.Control.Paths.NorthdParams(), u.recordPath(), u.Observer.CachePath()))...)
}
