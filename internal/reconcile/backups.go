package reconcile

import (
	"github.com/ovn-central/ovn-central-operator/internal/backuptimer"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// backupManager keeps the timer of the backups of a unit with that record.
func (u *Reconciler) backupManager(r *record) *backuptimer.Manager {
	return &backuptimer.Manager{Unit: u.Env.Unit, Paths: u.Paths, Services: u.Services, State: r.state, Log: u.Log}
}

// backupSnapshot is what the timer follows from.
func (u *Reconciler) backupSnapshot(p pass) backuptimer.Snapshot {
	s := p.inputs.settings.Backup
	return backuptimer.Snapshot{
		Interval: s.Interval, Keep: s.Keep, Ready: p.result.Decision.Ready, Thorough: p.inputs.thorough, Now: u.Now(),
	}
}

// schedulesBackups reports whether the unit stays, and its options say what backups it makes.
func (p pass) schedulesBackups() bool {
	a := p.inputs
	return !p.result.state.Dying && a.problem == "" && a.invalid[plan.OptionBackupInterval] == "" && a.invalid[plan.OptionBackupKeep] == ""
}
