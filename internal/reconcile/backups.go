package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// backupRecord is what is remembered of the backups that are made by a timer.
type backupRecord struct {
	// Set is what the timer was last told: a digest. Since is when.
	Set   string    `json:"set,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// scheduleBackups has systemd make backups as often as the option says, once the unit's
// servers are members, and says what is wrong with them, and how old the newest is. What goes
// wrong fails no hook: the databases don't depend on it.
func (u *Reconciler) scheduleBackups(ctx context.Context, p pass) (problem, age string, err error) {
	r, a, o := p.record, p.inputs, p.result
	if o.state.Dying || a.problem != "" || a.invalid[plan.OptionBackupInterval] != "" || a.invalid[plan.OptionBackupKeep] != "" {
		return "", "", nil
	}
	settings := a.settings.Backup
	switch {
	case settings.Interval == 0 && r.Backup.Set != "":
		if err = u.removeBackups(ctx); err == nil {
			r.Backup = backupRecord{}
		}
	case settings.Interval != 0 && (o.Decision.Ready || r.Backup.Set != ""):
		err = u.setBackups(ctx, r, a, settings)
	}
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if err != nil {
		u.Log.WarnContext(ctx, "cannot set up backups", "error", err)
		return firstLine(err.Error()), "", nil
	}
	problem, age = u.backups(ctx, r, settings)
	return problem, age, nil
}

// backups is what is wrong with the backups that are there, if something is, and how old the newest is.
func (u *Reconciler) backups(ctx context.Context, r *record, settings plan.BackupSettings) (problem, age string) {
	found, err := backup.Observe(u.Paths.Backups)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot look for backups", "error", err)
		return firstLine(err.Error()), ""
	}
	return found.Problem(settings.Interval, r.Backup.Since, u.Now()), found.Age(settings.Interval, u.Now())
}

// setBackups sets the timer where it differs from the option, which a hook that looks at
// everything finds out.
func (u *Reconciler) setBackups(ctx context.Context, r *record, a inputs, s plan.BackupSettings) error {
	if _, err := os.Stat(u.Paths.AgentProgram()); errors.Is(err, fs.ErrNotExist) {
		return nil // it is copied by this hook or the next
	}
	unit, timer := []byte(u.backupUnit(s)), []byte(backupTimer(s))
	set := digest(unit, timer)
	if set == r.Backup.Set && !a.thorough {
		return nil
	}
	changed, err := atomicfile.WriteIfChanged(u.Paths.BackupUnit(), unit, 0o644)
	if err != nil {
		return err
	}
	timed, err := atomicfile.WriteIfChanged(u.Paths.BackupTimer(), timer, 0o644)
	if err != nil {
		return err
	}
	if changed || timed || set != r.Backup.Set {
		if err := u.Services.Reload(ctx); err != nil {
			return err
		}
		if err := u.Services.Enable(ctx, ovndb.BackupTimer); err != nil {
			return err
		}
	}
	if timed || set != r.Backup.Set {
		err = u.Services.Restart(ctx, ovndb.BackupTimer)
	} else {
		err = u.Services.Start(ctx, ovndb.BackupTimer)
	}
	if err == nil && set != r.Backup.Set {
		r.Backup = backupRecord{Set: set, Since: u.Now().UTC().Truncate(time.Second)}
	}
	return err
}

// removeBackups takes the timer from the machine; the backups stay.
func (u *Reconciler) removeBackups(ctx context.Context) error {
	if _, err := os.Stat(u.Paths.BackupTimer()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := errors.Join(u.Services.Stop(ctx, ovndb.BackupTimer), u.Services.Disable(ctx, ovndb.BackupTimer))
	for _, path := range []string{u.Paths.BackupUnit(), u.Paths.BackupTimer()} {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return errors.Join(err, u.Services.Reload(ctx))
}

// backupUnit makes one backup (systemd.service(5)). It runs as root, since the servers'
// sockets and files are root's. It can't write to /usr, /boot, /etc and the users' homes
// (systemd.exec(5), ProtectSystem and ProtectHome).
func (u *Reconciler) backupUnit(s plan.BackupSettings) string {
	return strings.NewReplacer("PROGRAM", u.Paths.AgentProgram(), "UNIT", u.Env.Unit, "KEEP", fmt.Sprint(s.Keep)).Replace(`[Unit]
Description=Backup of OVN's databases by the charm ovn-central
After=ovn-central.service

[Service]
Type=oneshot
ExecStart=PROGRAM backup --unit UNIT --keep KEEP
Nice=19
TimeoutStartSec=3600
UMask=0077
NoNewPrivileges=yes
ProtectSystem=full
ProtectHome=yes
PrivateTmp=yes
`)
}

// backupTimer starts it some minutes after it is set or the machine has started, and then at
// the interval (systemd.timer(5)); units that were set at the same time do so at times of
// their own.
func backupTimer(s plan.BackupSettings) string {
	return strings.NewReplacer("INTERVAL", fmt.Sprint(int(s.Interval.Hours())), "SPREAD", fmt.Sprint(int(min(s.Interval/10, 30*time.Minute).Minutes()))).Replace(`[Unit]
Description=Backups of OVN's databases by the charm ovn-central

[Timer]
OnActiveSec=5min
OnUnitActiveSec=INTERVALh
RandomizedDelaySec=SPREADmin

[Install]
WantedBy=timers.target
`)
}
