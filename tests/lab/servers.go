package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// commandTimeout bounds a program that the lab runs for a unit, where ctx
// doesn't.
const commandTimeout = 30 * time.Second

// appctlTimeout bounds a question to a server, which may hang. In seconds, as
// ovs-appctl takes it.
const appctlTimeout = "3"

// Exec runs a program on the unit's machine (its environment and PATH, without a
// hook's tools) and returns what it wrote to stdout.
func (u *Unit) Exec(ctx context.Context, name string, args ...string) (string, error) {
	stdout, stderr, code, err := u.exec(ctx, name, args)
	switch {
	case err != nil:
		return stdout, fmt.Errorf("cannot run %s on %s: %w", name, u.name, err)
	case code != 0:
		return stdout, fmt.Errorf("%s on %s: exit code %d: %s", name, u.name, code, strings.TrimSpace(stderr))
	}
	return stdout, nil
}

func (u *Unit) exec(ctx context.Context, name string, args []string) (stdout, stderr string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := u.machine.Command(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		return out.String(), errs.String(), exit.ExitCode(), nil
	}
	return out.String(), errs.String(), 0, err
}

// Systemctl runs the machine's systemctl as the charm would.
func (u *Unit) Systemctl(ctx context.Context, args ...string) (stdout string, code int, err error) {
	stdout, _, code, err = u.exec(ctx, filepath.Join(u.machine.BinDir(), "systemctl"), args)
	return stdout, code, err
}

// Start starts the database's server by systemctl and waits until it answers.
func (u *Unit) Start(ctx context.Context, db DB) error {
	if err := u.service(ctx, "start", db); err != nil {
		return err
	}
	err := await(ctx, joinTimeout, func() (bool, error) {
		_, err := u.Appctl(ctx, db, "version")
		if err != nil && !u.Running(db) {
			err = errors.New("it ended: " + u.lastWords(db))
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("cannot start the %s server of %s: %w", db, u.name, err)
	}
	return nil
}

// lastWords is the last line that the database's server printed.
func (u *Unit) lastWords(db DB) string {
	text, _ := os.ReadFile(filepath.Join(u.LogDir(), db.Service()+".out"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// Stop stops the database's server by systemctl: a leader hands over.
func (u *Unit) Stop(ctx context.Context, db DB) error { return u.service(ctx, "stop", db) }

func (u *Unit) service(ctx context.Context, verb string, db DB) error {
	_, stderr, code, err := u.exec(ctx, filepath.Join(u.machine.BinDir(), "systemctl"), []string{verb, db.Service()})
	if err == nil && code != 0 {
		err = errors.New(strings.TrimSpace(stderr))
	}
	if err != nil {
		return fmt.Errorf("cannot %s the %s server of %s: %w", verb, db, u.name, err)
	}
	return nil
}

// ServerPID is the process of the database's server.
func (u *Unit) ServerPID(db DB) (int, error) {
	p, alive := u.machine.Find(db.Service())
	if !alive {
		return 0, fmt.Errorf("the %s server of %s isn't running", db, u.name)
	}
	return p.PID, nil
}

// Running says whether the database's server is a living process.
func (u *Unit) Running(db DB) bool {
	_, alive := u.machine.Find(db.Service())
	return alive
}

// Kill kills the database's server (SIGKILL) and waits until it is gone. It stays
// dead until it is started; systemctl then calls it failed.
func (u *Unit) Kill(db DB) error { return u.signal(db, syscall.SIGKILL) }

// Hang stops the server's process where it stands (SIGSTOP): the kernel still
// accepts connections for it, but nothing answers. To cut one unit off from its
// peers, let the servers of all others hang: it can't tell the difference.
func (u *Unit) Hang(db DB) error { return u.signal(db, syscall.SIGSTOP) }

// Resume ends [Unit.Hang].
func (u *Unit) Resume(db DB) error { return u.signal(db, syscall.SIGCONT) }

func (u *Unit) signal(db DB, sig syscall.Signal) error {
	p, alive := u.machine.Find(db.Service())
	if !alive {
		return fmt.Errorf("cannot signal the %s server of %s: it isn't running", db, u.name)
	}
	if err := u.machine.Signal(p, sig); err != nil {
		return err
	}
	return await(context.Background(), joinTimeout, func() (bool, error) {
		return p.Reached(sig), fmt.Errorf("process %d didn't take signal %v", p.PID, sig)
	})
}

// Appctl asks the database's server by ovs-appctl, for at most 3 s.
func (u *Unit) Appctl(ctx context.Context, db DB, args ...string) (string, error) {
	return u.Exec(ctx, "ovs-appctl", append([]string{"-T", appctlTimeout, "-t", u.Ctl(db)}, args...)...)
}

// Status is the server's own cluster/status.
func (u *Unit) Status(ctx context.Context, db DB) (string, error) {
	return u.Appctl(ctx, db, "cluster/status", db.Schema())
}

// ServerID is the member's full UUID, from its file: the server may be down.
func (u *Unit) ServerID(ctx context.Context, db DB) (string, error) {
	return u.tool(ctx, "db-sid", u.DBFile(db))
}

// PowerOff is the sudden end of the machine: its servers, and a hook that runs,
// are killed, and its agent is lost until [Unit.PowerOn]. The unit stays in the
// model.
func (u *Unit) PowerOff() error {
	u.lab.model.Do(func(s *model.State) { s.Lose(u.name, true) })
	return errors.Join(u.machine.KillAll(), u.lab.model.Save())
}

// PowerOn is the machine's next boot: the services that were running start, and
// so does the agent, which runs start again (Juju does so after a reboot) and
// whatever else has come up.
func (u *Unit) PowerOn(ctx context.Context) error {
	u.lab.model.Do(func(s *model.State) {
		s.Lose(u.name, false)
		s.RestartAgent(u.name)
		if known := s.Units[u.name]; known != nil && known.Uniter.Started && known.Uniter.Queued == nil {
			known.Uniter.Queued = &model.Hook{Kind: model.Start}
		}
	})
	for _, service := range u.machine.Wanted() {
		if _, code, err := u.Systemctl(ctx, "start", service); err != nil || code != 0 {
			return fmt.Errorf("cannot start %s on %s: exit code %d: %w", service, u.name, code, err)
		}
	}
	return u.lab.settleStarted(ctx)
}
