package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// record is what this package keeps of the unit on its disk, by section.
type record struct {
	// state has all sections, those of others too.
	state *unitstate.State
	managers
	// steps make those that change the unit's servers and their files.
	steps *steps.Unit
	unitKept
}

// The sections of the unit's state that this package has.
var (
	unitSection = unitstate.NewSection[unitKept]("unit")
)

// unitKept is what an operator has asked of the unit, and what the last hook came to.
type unitKept struct {
	// Known is false until the first hook of this charm on the machine.
	Known  bool `json:"known,omitempty"`
	Paused bool `json:"paused,omitempty"`
	// NorthdHeld reports whether an operator keeps ovn-northd from running here.
	NorthdHeld bool `json:"northd-held,omitempty"`
	// Northd is the last known state of all units' ovn-northd.
	Northd plan.Northd `json:"northd,omitzero"`
	// Settled reports whether nothing was left to do after the last hook, so that
	// `update-status` need not ask for everything.
	Settled bool `json:"settled,omitempty"`
}

// recordFile is not the cache of package observe: that is lost without harm,
// while a unit that is paused must stay so.
const recordFile = "ovn-central-operator.unit.json"

func (u *Reconciler) recordPath() string { return filepath.Join(u.Paths.DB, recordFile) }

// loadRecord reads the record. Where it can't be read, it is a new one.
func (u *Reconciler) loadRecord() (*record, error) {
	s, err := unitstate.Open(u.recordPath(), u.Log)
	if whose := s.Owner(); whose.Unit != "" && !u.Env.Is(whose.Unit, whose.Model) {
		u.Log.Info("ignoring the record of another unit that was on this machine before", "unit", whose.Unit, "model", whose.Model)
		s.Forget()
	}
	r := &record{state: s, unitKept: unitSection.Get(s)}
	save := func() error {
		r.Settled = false
		return u.saveRecord(r)
	}
	r.managers = u.managers(s, save)
	r.steps = &steps.Unit{
		Machine: u.Machine, Observer: u.Observer, Members: u.Members, Paths: u.Paths, Restarts: r.restarts, Save: save,
	}
	return r, err
}

// ForgetFormer removes what a unit of the same name remembered on this machine: Juju 4 numbers the units
// of an application that is deployed again from 0 (juju#21441), and runs no hook remove of one
// that is removed by force. It is for the hook install, whose own earlier tries it leaves.
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

func (u *Reconciler) saveRecord(r *record) error {
	s := r.state
	whose := unitstate.Owner{Unit: u.Env.Unit, Model: u.Env.ModelUUID, Installing: s.Owner().Installing}
	if event := u.Env.Event(); event != juju.Action { // an action may come before install is tried again
		whose.Installing = event == juju.Install
	}
	return errors.Join(unitSection.Set(s, r.unitKept), r.recovery.Store(), s.Save(whose))
}

// bringUpToDate completes what the unit has recorded by what Juju and the machine say now, as a plan
// needs it. It writes nothing: that is for the caller, if it acts.
func (u *Reconciler) bringUpToDate(ctx context.Context, p pass) error {
	p.record.recovery.See(p.record.leader.Clusters)
	version, _, err := p.record.packages.Installed(ctx)
	if err != nil {
		return err
	}
	p.record.restarts.Complete(ctx, version)
	return nil
}
