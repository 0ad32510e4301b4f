package lab

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// commandTimeout bounds a program that the lab runs for a unit, if ctx doesn't.
const commandTimeout = 2 * time.Minute

// Exec runs a program on the unit's machine (network, environment and PATH, without hook tools) and returns its stdout.
// OVN's clients get [Lab.ClientCredentials]. If the machine is off, the program runs in the hub's network.
func (u *Unit) Exec(ctx context.Context, name string, args ...string) (string, error) {
	m := u.Machine
	if !m.On() {
		m = u.lab.hub
	}
	return u.lab.execOn(ctx, m, u.name, name, args)
}

func (l *Lab) execOn(ctx context.Context, m *machine.Machine, where, name string, args []string) (stdout string, err error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := m.Command(ctx, name, args...)
	cmd.Env = append(cmd.Env, l.clientEnvironment()...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		return out.String(), fmt.Errorf("%s on %s: exit code %d: %s", name, where, exit.ExitCode(), strings.TrimSpace(errs.String()))
	}
	if err != nil {
		err = fmt.Errorf("cannot run %s on %s: %w", name, where, err)
	}
	return out.String(), err
}

// Systemctl runs the machine's systemctl as the charm would. A machine that is off only answers, from its disk.
func (u *Unit) Systemctl(ctx context.Context, args ...string) (stdout string, code int, err error) {
	said := u.Machine.Systemctl(ctx, args)
	return said.Out, said.Code, context.Cause(ctx)
}

// Start starts the database's server by systemctl and waits until it answers.
func (u *Unit) Start(ctx context.Context, db DB) error {
	if err := u.service(ctx, "start", db); err != nil {
		return err
	}
	var ended error
	err := await(ctx, func() (bool, error) {
		_, err := u.Appctl(ctx, db, "version")
		if err != nil && !u.active(ctx, db) {
			ended = errors.New("it ended: " + u.lastWords(db))
		}
		return err == nil || ended != nil, err
	})
	if err = cmp.Or(ended, err); err != nil {
		return fmt.Errorf("cannot start the %s server of %s: %w", db, u.name, err)
	}
	return nil
}

// active reports whether systemctl calls the database's service active or activating.
func (u *Unit) active(ctx context.Context, db DB) bool {
	state, _, err := u.Systemctl(ctx, "is-active", db.Service())
	return err == nil && (strings.TrimSpace(state) == "active" || strings.TrimSpace(state) == "activating")
}

// lastWords returns the last line of the server's output.
func (u *Unit) lastWords(db DB) string {
	text, _ := os.ReadFile(filepath.Join(u.LogDir(), db.Service()+".out"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// Stop stops the database's server by systemctl: a leader hands over.
func (u *Unit) Stop(ctx context.Context, db DB) error { return u.service(ctx, "stop", db) }

func (u *Unit) service(ctx context.Context, verb string, db DB) error {
	said := u.Machine.Systemctl(ctx, []string{verb, db.Service()})
	err := context.Cause(ctx)
	if err == nil && said.Code != 0 {
		err = errors.New(strings.TrimSpace(said.Errors))
	}
	if err != nil {
		return fmt.Errorf("cannot %s the %s server of %s: %w", verb, db, u.name, err)
	}
	return nil
}

// ServerPID returns the process of the database's server.
func (u *Unit) ServerPID(db DB) (int, error) {
	p, alive := u.Machine.Server(db)
	if !alive {
		return 0, fmt.Errorf("the %s server of %s isn't running", db, u.name)
	}
	return p.PID, nil
}

// Running reports whether the database's server is a living process.
func (u *Unit) Running(db DB) bool {
	_, alive := u.Machine.Server(db)
	return alive
}

// Kill kills the database's server and waits until it is gone. It stays dead unless [Options].Restart is set.
func (u *Unit) Kill(db DB) error { return u.signal(db, syscall.SIGKILL) }

// Hang suspends the server's process (SIGSTOP): the kernel still accepts connections for it, but nothing answers.
func (u *Unit) Hang(db DB) error { return u.signal(db, syscall.SIGSTOP) }

// Resume ends [Unit.Hang].
func (u *Unit) Resume(db DB) error { return u.signal(db, syscall.SIGCONT) }

func (u *Unit) signal(db DB, sig syscall.Signal) error {
	p, alive := u.Machine.Server(db)
	if !alive {
		return fmt.Errorf("cannot signal the %s server of %s: it isn't running", db, u.name)
	}
	// ovn-ctl on the creator's machine waits up to half a minute for its server, or for its answer.
	if err := p.Signal(sig, sig == syscall.SIGKILL); err != nil {
		return err
	}
	return await(context.Background(), func() (bool, error) {
		// That it is killed systemctl is to know, too.
		noticed := sig != syscall.SIGKILL || u.Restart || !u.active(context.Background(), db)
		return p.Reached(sig) && noticed, fmt.Errorf("process %d didn't take signal %v", p.PID, sig)
	})
}

// Status returns the server's own cluster/status.
func (u *Unit) Status(ctx context.Context, db DB) (string, error) {
	return u.Appctl(ctx, db, "cluster/status", db.Schema())
}

// ServerID returns the member's full UUID, from its file: the server may be down.
func (u *Unit) ServerID(ctx context.Context, db DB) (string, error) {
	return u.tool(ctx, "db-sid", u.DBFile(db))
}

// Cut disconnects the unit's machine from the network, or with false connects it again. Hooks still run there.
func (u *Unit) Cut(off bool) error { return u.Machine.Cut(context.Background(), off) }

// PowerOff ends the machine suddenly: everything that runs there is killed, including a hook, its network is gone,
// and its agent is lost until [Unit.PowerOn]. The unit stays in the model.
func (u *Unit) PowerOff() error {
	u.lab.model.Do(func(s *model.State) { s.Lose(u.name, true) })
	return u.Machine.KillAll()
}

// PowerOn boots the machine: the enabled services start, and so does the agent, which runs start again (as Juju does
// after a reboot) and every other hook that is due. It returns when the servers run, or have ended.
func (u *Unit) PowerOn(ctx context.Context) error {
	if err := u.Boot(ctx); err != nil {
		return err
	}
	return u.lab.settleStarted(ctx)
}

// Boot does [Unit.PowerOn] without hooks.
func (u *Unit) Boot(ctx context.Context) error {
	u.lab.model.Do(func(s *model.State) {
		s.Lose(u.name, false)
		s.Reboot(u.name)
	})
	if err := u.Machine.Boot(ctx, u.lab.program); err != nil {
		return err
	}
	for _, db := range Databases {
		err := await(ctx, func() (bool, error) {
			return u.Running(db) || !u.active(ctx, db), fmt.Errorf("the %s server of %s doesn't come up", db, u.name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
