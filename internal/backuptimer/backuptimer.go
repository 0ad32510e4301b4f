// Package backuptimer maintains a timer of systemd that makes backups, and reports overdue backups. The databases don't
// depend on it.
package backuptimer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Manager maintains the timer of a unit's backups.
type Manager struct {
	Unit     string
	Paths    ovndb.Paths
	Services systemd.Services
	Now      func() time.Time
	State    *unitstate.State
	Log      *slog.Logger
	// age is the age of the newest backup, as last observed.
	age finding.Reason
}

type kept struct {
	// Set is the digest of the timer's files as last applied, Since when that was.
	Set   string    `json:"set,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

var section = unitstate.NewSection[kept]("backup-timer")

// Ensure sets the timer to the option's interval once the unit's servers are members. A unit that is being removed
// keeps its timer until it leaves. It returns findings about the timer and the backups. It returns an error only if the
// context has ended.
func (m *Manager) Ensure(ctx context.Context, o facts.Facts) ([]finding.Finding, error) {
	last, s, err := section.Get(m.State), o.Known.Settings.Backup, error(nil)
	usable := o.Known.Problem.IsZero() && o.Known.Usable(plan.OptionBackupInterval, plan.OptionBackupKeep)
	switch {
	case o.Preview && last.Set == "", !o.Preview && (o.State.Dying || !usable):
		return nil, nil
	case o.Preview:
	case s.Interval == 0 && last.Set != "":
		if err = m.Remove(ctx); err == nil {
			err = section.Set(m.State, kept{})
		}
	case s.Interval != 0 && (o.Decision.Ready || last.Set != ""):
		err = m.set(ctx, s, o.Thorough, last)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		m.Log.WarnContext(ctx, "cannot set up backups", "error", err)
		return m.overdue(finding.Quote(firstLine(err))), nil
	}
	return m.judge(ctx, s), nil
}

// Age returns the age of the newest backup, as last observed, for the status; nothing if it is not known.
func (m *Manager) Age() finding.Reason { return m.age }

func (m *Manager) judge(ctx context.Context, s plan.BackupSettings) []finding.Finding {
	there, err := backup.Observe(m.Paths.Backups)
	if err != nil {
		m.Log.WarnContext(ctx, "cannot look for backups", "error", err)
		return m.overdue(finding.Quote(firstLine(err)))
	}
	m.age = there.Age(s.Interval, m.Now())
	return m.overdue(there.Problem(s.Interval, section.Get(m.State).Since, m.Now()))
}

func (m *Manager) overdue(problem finding.Reason) []finding.Finding {
	if problem.IsZero() {
		return nil
	}
	args := finding.Args{Reasons: []finding.Reason{problem}}
	return []finding.Finding{finding.New(finding.BackupOverdue, finding.Subject{}, args,
		finding.Do(command.OnMachine(m.Unit, "journalctl", "-u", "ovn-central-backup")))}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// set sets the timer if the option has changed. If thorough is set, it also does so if the machine's files differ.
func (m *Manager) set(ctx context.Context, s plan.BackupSettings, thorough bool, last kept) error {
	if _, err := os.Stat(m.Paths.AgentProgram()); errors.Is(err, fs.ErrNotExist) {
		return nil // this hook or the next one copies the program
	}
	unit, timer := []byte(m.service(s)), []byte(timer(s))
	set := unitstate.Digest(unit, timer)
	if set == last.Set && !thorough {
		return nil
	}
	changed, err := atomicfile.WriteIfChanged(m.Paths.BackupUnit(), unit, 0o644)
	if err != nil {
		return err
	}
	timed, err := atomicfile.WriteIfChanged(m.Paths.BackupTimer(), timer, 0o644)
	if err != nil {
		return err
	}
	if set == last.Set && !changed && !timed {
		return m.Services.Start(ctx, ovndb.BackupTimer)
	}
	if err := m.Services.Reload(ctx); err != nil {
		return err
	}
	if err := m.Services.Enable(ctx, ovndb.BackupTimer); err != nil {
		return err
	}
	if err := m.Services.Restart(ctx, ovndb.BackupTimer); err != nil || set == last.Set {
		return err
	}
	return section.Set(m.State, kept{Set: set, Since: m.Now().UTC().Truncate(time.Second)})
}

// Remove removes the timer from the machine; the backups stay.
func (m *Manager) Remove(ctx context.Context) error {
	if _, err := os.Stat(m.Paths.BackupTimer()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := errors.Join(m.Services.Stop(ctx, ovndb.BackupTimer), m.Services.Disable(ctx, ovndb.BackupTimer))
	return errors.Join(err, atomicfile.Remove(m.Paths.BackupUnit(), m.Paths.BackupTimer()), m.Services.Reload(ctx))
}

// service returns the service that makes one backup (systemd.service(5)). It runs as root, which owns the servers'
// sockets and files, and can't write to /usr, /boot, /etc and the users' homes (systemd.exec(5), ProtectSystem and
// ProtectHome).
func (m *Manager) service(s plan.BackupSettings) string {
	return strings.NewReplacer(
		"PROGRAM", m.Paths.AgentProgram(), "UNIT", m.Unit, "KEEP", fmt.Sprint(s.Keep),
	).Replace(`[Unit]
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

// timer returns a timer that starts the service some minutes after the timer is set or the machine has booted, and
// then at the interval (systemd.timer(5)). The random delay spreads the backups of units whose timers were set at the
// same time.
func timer(s plan.BackupSettings) string {
	spread := min(s.Interval/10, 30*time.Minute)
	return strings.NewReplacer(
		"INTERVAL", fmt.Sprint(int(s.Interval.Hours())), "SPREAD", fmt.Sprint(int(spread.Minutes())),
	).Replace(`[Unit]
Description=Backups of OVN's databases by the charm ovn-central

[Timer]
OnActiveSec=5min
OnUnitActiveSec=INTERVALh
RandomizedDelaySec=SPREADmin

[Install]
WantedBy=timers.target
`)
}
