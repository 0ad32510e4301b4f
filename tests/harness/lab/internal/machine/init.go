package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

// manager is a machine's init, the process that holds its network namespace. It runs the machine's services, as
// systemd would, and systemctl speaks to it over a socket. Processes that a service leaves behind become its
// children, so it learns how every process ends.
type manager struct {
	*Machine

	mu       sync.Mutex
	jobs     int // that no process waits for
	services map[string]*service
	children map[int]*child
	toResume map[string]running // nil: it boots as any other
}

// child is a process of a service. Its status is valid once done is closed.
type child struct {
	pid, group int
	done       chan struct{}
	status     syscall.WaitStatus
}

func newManager(m *Machine) *manager {
	return &manager{Machine: m, services: map[string]*service{}, children: map[int]*child{}}
}

func (m *Machine) initSocket() string { return filepath.Join(m.Dir, "init.socket") }

const prSetChildSubreaper = 36

// initMain is the init of the machine in dir. It runs until it is killed.
func initMain(dir string) int {
	// The namespace has its network when the input ends.
	_, _ = io.Copy(io.Discard, os.Stdin)
	m, err := Load(dir)
	if err == nil {
		err = newManager(m).serve()
	}
	fmt.Fprintln(os.Stderr, err)
	return exitFailure
}

func (m *manager) serve() error {
	if _, _, code := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); code != 0 {
		return fmt.Errorf("cannot adopt processes: %w", code)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			m.reap()
		}
	}()
	if err := os.Remove(m.initSocket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var err error
	if m.toResume, err = m.takeRunning(); err != nil {
		return err
	}
	if m.toResume == nil {
		for _, unit := range m.booted() {
			m.background("start", unit)
		}
	}
	listener, err := net.Listen("unix", m.initSocket())
	if err != nil {
		return fmt.Errorf("cannot listen for systemctl: %w", err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go m.answer(connection)
	}
}

// reap collects the status of every child that has ended: several may end with one signal.
func (m *manager) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		// A process that is just being started is recorded before the lock is released.
		m.mu.Lock()
		if c := m.children[pid]; c != nil {
			delete(m.children, pid)
			c.status = status
			close(c.done)
		}
		m.mu.Unlock()
	}
}

// spawn starts a program of a service as a process group leader. Its output goes to the log directory.
func (m *manager) spawn(unit string, command []string, variables map[string]string) (*child, error) {
	out, err := os.OpenFile(filepath.Join(m.LogDir(), unit+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	attributes := &os.ProcAttr{
		Dir: "/", Env: append(m.Environment(), "PATH="+m.SystemPath(), "LANG=C.UTF-8"),
		Files: []*os.File{null, out, out}, Sys: &syscall.SysProcAttr{Setsid: true},
	}
	for name, value := range variables {
		attributes.Env = append(attributes.Env, name+"="+value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := os.StartProcess(command[0], command, attributes)
	if err != nil {
		return nil, err
	}
	c := &child{pid: p.Pid, group: p.Pid, done: make(chan struct{})}
	m.children[c.pid] = c
	return c, p.Release()
}

// adopt waits for a process that a service's program has left behind.
func (m *manager) adopt(pidFile string) (*child, error) {
	p, alive := m.fromPidFile(pidFile)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !alive || !p.Alive() {
		return nil, fmt.Errorf("no process is named by %s", pidFile)
	}
	group, err := syscall.Getpgid(p.PID)
	if err != nil {
		return nil, err
	}
	c := &child{pid: p.PID, group: group, done: make(chan struct{})}
	m.children[c.pid] = c
	return c, nil
}

type request struct{ Args []string }

// Reply is systemctl's answer.
type Reply struct {
	Out, Errors string
	Code        int
}

func (m *manager) answer(connection net.Conn) {
	defer connection.Close()
	var q request
	if err := json.NewDecoder(connection).Decode(&q); err != nil {
		return
	}
	// A client that is gone needs no answer; its job continues.
	_ = json.NewEncoder(connection).Encode(m.systemctl(q.Args))
}
