package cli

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/firewall"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/reconcile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// backups makes copies of the databases, and reports on them what the unit's members report.
func backups(u *reconcile.Reconciler) *backup.Service {
	return &backup.Service{
		Unit: u.Env.Unit, Files: u.Files, Dialer: u.Dialer,
		Version: u.Packages.Installed, Now: time.Now, Progress: u.Members.Progress,
	}
}

// newMachine is this machine.
func newMachine(env juju.Env, paths ovndb.Paths, credentials ovndb.Credentials, log *slog.Logger) *observe.Machine {
	runner := run.Exec{}
	return &observe.Machine{
		Env:      env,
		Control:  ovsctl.Control{Runner: runner, Paths: paths},
		Files:    ovsctl.Files{Runner: runner, Paths: paths, Answers: new(ovsctl.StateCache)},
		Services: systemd.Services{Runner: runner, Paths: paths},
		Dialer:   &ovsdb.Dialer{Credentials: credentials},
		Now:      time.Now,
		Log:      log,
	}
}

// unit constructs the services of a hook or an action.
func unit(getenv func(string) string, stderr io.Writer) *reconcile.Reconciler {
	var (
		runner = run.Exec{}
		env    = juju.ReadEnv(getenv)
		tools  = juju.New(runner)
		paths  = ovndb.PathsFromEnv(getenv)
	)
	log := slog.New(juju.NewLogHandler(tools, stderr, slog.LevelInfo))
	system, err := apt.ReadOS(apt.OSRelease)
	if err != nil {
		log.Warn("cannot tell which system this is; only source=distro can be used", "error", err)
	}
	machine := newMachine(env, paths, paths.Credentials(), log)
	observer := &observe.Observer{Machine: machine}
	members := &membership.Changer{
		Machine:  machine,
		Observer: observer,
		Goal:     tools.GoalState,
		//nolint:sloglint // progress, shown to an operator
		Progress: func(ctx context.Context, text string) { log.InfoContext(ctx, text) },
	}
	program, err := os.Executable()
	if err != nil {
		log.Warn("cannot find this program's file; the agent is not kept", "error", err)
	}
	u := &reconcile.Reconciler{
		Machine:  machine,
		Tools:    tools,
		Observer: observer,
		Members:  members,
		Paths:    paths,
		Packages: apt.Packages{
			Runner: runner, Paths: paths, Getenv: getenv,
			Admin: cmp.Or(getenv("DPKG_ADMINDIR"), apt.DpkgAdmin),
		},
		Firewall:   firewall.Firewall{Runner: runner},
		Policy:     apt.Policy{Runner: runner, Paths: paths, App: env.App},
		Monitoring: monitoring.On(runner, ""),
		Program:    program,
		OS:         system,
	}
	members.BeforeLeaving = u.HaltAgent
	return u
}
