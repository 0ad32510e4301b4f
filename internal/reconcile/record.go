package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/operate"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// record is the unit's stored state, with the managers that own its sections.
type record struct {
	// state has all sections.
	state *unitstate.State
	*steps.Unit
	managers
	kept
}

var section = unitstate.NewSection[kept]("unit")

// kept records an operator's requests to the unit, and the outcome of the last hook.
type kept struct {
	// Known is false until the first hook of this charm on the machine.
	Known bool `json:"known,omitempty"`
	operate.Asked
	// Northd is the last known state of all units' ovn-northd.
	Northd plan.Northd `json:"northd,omitzero"`
	// Settled reports whether nothing was left to do after the last hook, so that `update-status` need not ask for
	// everything.
	Settled bool `json:"settled,omitempty"`
}

// recordFile is separate from the cache of package observe. The cache can be lost without harm, while a paused unit
// must stay paused.
const recordFile = "ovn-central-operator.unit.json"

func (u *Reconciler) recordPath() string { return filepath.Join(u.Control.Paths.DB, recordFile) }

// loadRecord reads the record; if it can't be read, it returns an empty one.
func (u *Reconciler) loadRecord() (*record, error) {
	s, err := unitstate.Open(u.recordPath(), u.Log)
	if whose := s.Owner(); whose.Unit != "" && !u.Env.Is(whose.Unit, whose.Model) {
		u.Log.Info("ignoring the record of another unit that was on this machine before",
			"unit", whose.Unit, "model", whose.Model)
		s.Forget()
	}
	r := &record{state: s, kept: section.Get(s)}
	r.Unit = u.steps(s, func() error {
		r.Settled = false
		return u.saveRecord(r)
	})
	r.managers = u.managers(s, r.Unit)
	return r, err
}

func (u *Reconciler) saveRecord(r *record) error {
	s := r.state
	whose := unitstate.Owner{Unit: u.Env.Unit, Model: u.Env.ModelUUID, Installing: s.Owner().Installing}
	if event := u.Env.Event(); event != juju.Action { // an action may come before install is tried again
		whose.Installing = event == juju.Install
	}
	return errors.Join(section.Set(s, r.kept), r.Recovery.Store(), s.Save(whose))
}

func (u *Reconciler) save(ctx context.Context, r *record) {
	if err := u.saveRecord(r); err != nil {
		u.Log.WarnContext(ctx, "cannot save the unit's record; continuing", "error", err)
	}
}

// Operate returns the operations on the unit's services that an operator may request.
func (u *Reconciler) Operate() (operate.Unit, error) {
	r, err := u.loadRecord()
	return operate.Unit{Unit: r.Unit, Asked: &r.Asked, Agent: r.agent}, err
}

// ForgetFormer removes the state of an earlier unit of the same name on this machine. Juju 4 numbers the units of an
// application that is deployed again from 0 (juju#21441), and runs no hook remove for a unit that is removed by
// force. Call it in the hook install; it keeps the state of that hook's own earlier attempts.
func (u *Reconciler) ForgetFormer(ctx context.Context) error {
	r, err := u.loadRecord()
	if err == nil && r.state.Owner().Installing {
		return nil
	}
	for _, path := range []string{u.recordPath(), u.Observer.CachePath()} {
		switch err := os.Remove(path); {
		case err == nil:
			u.Log.InfoContext(ctx, "forgetting what a unit remembered that was on this machine before", "path", path)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("cannot forget the unit that was on this machine before: %w", err)
		}
	}
	return nil
}

// adopt records the services that were installed before this charm, so that the change of charms restarts nothing. It
// discards the leftovers of a force-removed unit.
func (u *Reconciler) adopt(ctx context.Context, r *record, settings plan.Settings) error {
	if r.Known {
		return nil
	}
	// If this unit's record was lost, a staged file is its own only if the file's ID was claimed.
	if err := r.Recovery.PutAwayStaged(ctx, r.Leader.Clusters.IDs); err != nil {
		return err
	}
	if u.Env.Event() == juju.Install {
		r.Known = true
		return nil
	}
	version, complete, err := r.Packages.Adopt(ctx, settings.AllSources())
	if err != nil {
		return fmt.Errorf("cannot find out what is installed: %w", err)
	}
	r.Known = true
	if version.OVN == "" {
		return nil
	}
	// A half-configured package counts as installed: its services may run, and the next step completes it.
	for _, service := range plan.RestartOrder() {
		// The running ovsdb-server may be older than the installed one; other code asks it for its version.
		r.Restarts.Started(service, ovndb.Version{OVN: version.OVN})
	}
	if !complete {
		r.Restarts.Due(ovndb.Northd, "an upgrade of the packages was cut off") // the old version may still run
	}
	return nil
}
