package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The services of the packages, without ".service".
const (
	Umbrella = "ovn-central"
	Northd   = "ovn-northd"
)

// Service is the name of a database's service.
func (db DB) Service() string { return "ovn-ovsdb-server-" + string(db) }

// parts are the services that are PartOf the umbrella, which Wants them.
var parts = []string{NB.Service(), SB.Service(), Northd}

// service is how one of the parts is run.
type service struct {
	name    string
	command func(*Machine) []string
	ctl     func(*Machine, Process) string
}

var services = map[string]*service{
	NB.Service(): server(NB),
	SB.Service(): server(SB),
	Northd: {
		name: Northd,
		command: func(m *Machine) []string {
			command := []string{
				"ovn-northd", "-vconsole:err", "--log-file=" + filepath.Join(m.LogDir(), "ovn-northd.log"),
				"--pidfile=" + filepath.Join(m.RunDir(), "ovn-northd.pid"),
			}
			// ovn-ctl takes the databases from this file where it exists.
			text, err := os.ReadFile(m.NorthdParams())
			if err != nil {
				text = fmt.Appendf(nil, "--ovnnb-db=unix:%s/ovnnb_db.sock --ovnsb-db=unix:%s/ovnsb_db.sock", m.RunDir(), m.RunDir())
			}
			return append(command, strings.Fields(string(text))...)
		},
		ctl: func(m *Machine, p Process) string {
			return filepath.Join(m.RunDir(), fmt.Sprintf("ovn-northd.%d.ctl", p.PID))
		},
	},
}

// NorthdParams is the file that tells ovn-northd where the databases are
// (ovn-ctl, ovn_northd_db_conf_file).
func (m *Machine) NorthdParams() string {
	return filepath.Join(m.SysconfDir(), "ovn-northd-db-params.conf")
}

func server(db DB) *service {
	return &service{
		name: db.Service(),
		command: func(m *Machine) []string {
			stem := "ovn" + string(db) + "_db"
			command := []string{
				"ovsdb-server", "-vconsole:err", "--log-file=" + filepath.Join(m.LogDir(), "ovsdb-server-"+string(db)+".log"),
				"--remote=punix:" + filepath.Join(m.RunDir(), stem+".sock"), "--unixctl=" + m.Ctl(db),
				"--pidfile=" + filepath.Join(m.RunDir(), stem+".pid"),
				fmt.Sprintf("--remote=ptcp:%d:%s", db.ClientPort(), m.Address),
			}
			if db == SB {
				command = append(command, fmt.Sprintf("--remote=ptcp:%d:%s", chassisPort, m.Address))
			}
			return append(command, m.DBFile(db))
		},
		ctl: func(m *Machine, _ Process) string { return m.Ctl(db) },
	}
}

// start runs the service's program, unless it runs already. Like systemd with
// Type=simple it doesn't wait until the program is ready.
func (m *Machine) start(s *service) error {
	unlock, err := m.lock(s.name)
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.setFlag(s.name, started, true); err != nil {
		return err
	}
	if _, alive := m.Find(s.name); alive {
		return nil
	}
	return m.spawn(s.name, s.command(m))
}

// spawn starts a program that outlives the caller and notes it under name. What
// it writes goes to a file: a pipe of the hook must not stay open.
func (m *Machine) spawn(name string, command []string) error {
	out, err := os.OpenFile(filepath.Join(m.LogDir(), name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := m.Command(context.Background(), command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	if _, err := m.Record(name, cmd.Process.Pid, false); err != nil && !errors.Is(err, errGone) {
		_ = cmd.Process.Kill()
		return err
	}
	return nil
}

// Times of the packages' ovn-lib, stop_ovn_daemon: after `exit`, and after
// SIGTERM, before the next, harder step.
const (
	exitTimeout = 2 * time.Second
	termTimeout = 5 * time.Second
)

// stop ends the service as ovn-ctl does: `exit` (a Raft leader hands over), then
// SIGTERM, then SIGKILL.
func (m *Machine) stop(ctx context.Context, s *service) error {
	unlock, err := m.lock(s.name)
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.setFlag(s.name, started, false); err != nil {
		return err
	}
	defer m.Forget(s.name)
	p, alive := m.Find(s.name)
	if !alive {
		return nil
	}
	exit := m.Command(ctx, "ovs-appctl", "-T", "1", "-t", s.ctl(m, p), "exit")
	if exit.Run() == nil && p.await(exitTimeout) {
		return nil
	}
	for _, step := range []struct {
		signal syscall.Signal
		limit  time.Duration
	}{{syscall.SIGTERM, termTimeout}, {syscall.SIGKILL, reapTimeout}} {
		if err := m.Signal(p, step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		if p.await(step.limit) {
			return nil
		}
	}
	return fmt.Errorf("cannot stop %s: process %d doesn't end", s.name, p.PID)
}
