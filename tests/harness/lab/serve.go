package lab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
)

// killPlan kills a hook at the first call of another program for which when returns true. Calls of OVN's tools count
// if the hook is traced. watch sees each call before its effect; refuse makes a hook tool fail.
type killPlan struct {
	when   func(call string) bool
	watch  func(call string)
	refuse func(call string) error
	traced bool
}

var neverKill = killPlan{}

func killAt(call int) killPlan {
	return killPlan{traced: true, when: func(string) bool { call--; return call == 0 }}
}

// callTimeout bounds the communication with one tool, without the work done for it.
const callTimeout = 10 * time.Second

// server answers the hook tools of one run of the charm, and runs the machine's replaced programs for it.
type server struct {
	listener net.Listener
	machine  *machine.Machine
	context  *hooktool.Context
	plan     killPlan
	kill     func() error
	group    sync.WaitGroup

	mu     sync.Mutex
	calls  []string
	killed bool
}

func (u *Unit) listenForTools() (net.Listener, error) {
	if err := os.Remove(u.socket()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot listen for hook tools: %w", err)
	}
	return net.Listen("unix", u.socket())
}

// serve answers hook tools until close. kill ends the hook's process when plan says so.
func serve(u *Unit, listener net.Listener, c *hooktool.Context, plan killPlan, kill func() error) *server {
	s := &server{listener: listener, machine: u.Machine, context: c, plan: plan, kill: kill}
	s.group.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.group.Go(func() { s.answer(connection) })
		}
	})
	return s
}

func (s *server) answer(connection net.Conn) {
	request, err := receive(connection)
	if err != nil {
		connection.Close()
		return
	}
	switch {
	case s.ends(request):
		connection.Close()
	case slices.Contains(hooktool.Names(), request.Name):
		reply(connection, s.run(request))
	default:
		// The answer outlives the hook: close doesn't wait for it, since systemctl may wait for minutes.
		go func() { reply(connection, s.machine.Answer(request)) }()
	}
}

func receive(connection net.Conn) (request hooktool.Request, err error) {
	if err := connection.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return request, err
	}
	text, err := io.ReadAll(connection)
	if err == nil {
		err = request.Unmarshal(text)
	}
	return request, err
}

// reply ignores a client that has ended.
func reply(connection net.Conn, response hooktool.Response) {
	defer connection.Close()
	if connection.SetDeadline(time.Now().Add(callTimeout)) == nil {
		_, _ = connection.Write(response.Marshal())
	}
}

// run answers a hook tool, unless the test makes its call fail.
func (s *server) run(request hooktool.Request) hooktool.Response {
	if s.plan.refuse != nil {
		if err := s.plan.refuse(request.Call()); err != nil {
			return hooktool.Response{Code: 1, Stderr: "ERROR " + err.Error() + "\n"}
		}
	}
	return s.context.Run(request)
}

// ends counts the call and reports whether the hook is killed at it. A repeated call with input counts once.
func (s *server) ends(request hooktool.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killed {
		return true
	}
	if request.Stdin != nil {
		return false
	}
	call := request.Call()
	s.calls = append(s.calls, call)
	if s.plan.watch != nil {
		s.plan.watch(call)
	}
	if s.plan.when == nil || !s.plan.when(call) {
		return false
	}
	// The process may just have ended by itself: then it wasn't killed.
	s.killed = s.kill() == nil
	return true
}

func (s *server) end() (killed bool, calls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killed, s.calls
}

func (s *server) close() {
	s.listener.Close()
	s.group.Wait()
}

// SignalHook signals the unit's running hook or action and the processes that it has called: SIGKILL kills it, as
// [Lab.RunHookKilledAt] does; SIGSTOP suspends it until SIGCONT, while jobs of systemd continue. The function of
// [Unit.OnCall] may call it. If none is running the error wraps [os.ErrProcessDone].
func (u *Unit) SignalHook(sig syscall.Signal) error {
	if p := u.hook.Load(); p == nil || syscall.Kill(-p.Pid, sig) != nil {
		return fmt.Errorf("cannot signal a hook of %s: %w", u.name, os.ErrProcessDone)
	}
	return nil
}

// OnTool decides for each later call of a hook tool by the unit's hooks and actions whether it fails. If fails
// returns an error, the tool prints it and does nothing. nil ends that.
func (u *Unit) OnTool(fails func(call string) error) {
	u.tools.Store(&fails)
}

func (u *Unit) refusal(call string) error {
	if fails := u.tools.Load(); fails != nil && *fails != nil {
		return (*fails)(call)
	}
	return nil
}
