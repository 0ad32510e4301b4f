package lab

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// pipeGrace is how long a background process may hold the hook's output open after the hook has ended.
const pipeGrace = time.Second

type outcome struct {
	code           int
	killed         bool  // by the plan
	err            error // not started, or killed at its deadline
	output         string
	stdout, stderr []byte
	calls          []string
}

// environment returns exactly the variables that Juju passes to hooks and actions on Ubuntu (context.HookVars and
// OSDependentEnvVars, no HOME, no USER), and OVN's variables. dispatch is "" for a program that is neither a hook nor
// an action.
func (l *Lab) environment(u *Unit, c *hooktool.Context, dispatch string) []string {
	_, name, _ := strings.Cut(dispatch, "/")
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	c.ID = fmt.Sprintf("%s-%s-%s", u.name, cmp.Or(name, "run-commands"), hex.EncodeToString(random))
	hook := name
	if c.Action != nil || dispatch == "" {
		hook = ""
	}
	var version string
	var sla, meter bool
	l.model.Do(func(s *model.State) { version, sla, meter = s.JujuVersion, !s.Since(4, 0), !s.Since(3, 6) })
	vars := []string{
		"CHARM_DIR=" + u.CharmDir(), "JUJU_CHARM_DIR=" + u.CharmDir(), hooktool.ContextVariable + "=" + c.ID,
		"JUJU_HOOK_NAME=" + hook,
		hooktool.SocketVariable + "=" + u.socket(), "JUJU_AGENT_SOCKET_NETWORK=unix",
		"JUJU_UNIT_NAME=" + u.name, "JUJU_MODEL_UUID=deadbeef-0bad-400d-8000-4b1d0d06f00d", "JUJU_MODEL_NAME=lab",
		"JUJU_API_ADDRESSES=" + address4(reservedHost) + ":17070",
		fmt.Sprintf("JUJU_MACHINE_ID=%d", u.number), "JUJU_PRINCIPAL_UNIT=", "JUJU_AVAILABILITY_ZONE=",
		"JUJU_VERSION=" + version, "CLOUD_API_VERSION=",
		"JUJU_CHARM_HTTP_PROXY=", "JUJU_CHARM_HTTPS_PROXY=", "JUJU_CHARM_FTP_PROXY=", "JUJU_CHARM_NO_PROXY=",
		"LANG=C.UTF-8", "TERM=tmux-256color", "DEBIAN_FRONTEND=noninteractive", "APT_LISTCHANGES_FRONTEND=none",
	}
	if dispatch != "" {
		vars = append(vars, "JUJU_DISPATCH_PATH="+dispatch)
	}
	if sla {
		vars = append(vars, "JUJU_SLA=unsupported")
	}
	if meter {
		vars = append(vars, "JUJU_METER_STATUS=AMBER", "JUJU_METER_INFO=not set")
	}
	return append(vars, u.Machine.Environment()...)
}

func (u *Unit) socket() string { return filepath.Join(u.Machine.Dir, "agent.socket") }

func (l *Lab) path(u *Unit, traced bool) string {
	dirs := []string{l.toolsDir(), u.Machine.SystemPath()}
	if traced {
		dirs = append([]string{u.Machine.TracedDir()}, dirs...)
	}
	return "PATH=" + strings.Join(dirs, ":")
}

// execute runs the charm's dispatch, or another command, to its end, and answers its hook tools.
func (l *Lab) execute(ctx context.Context, u *Unit, c *hooktool.Context, env []string, kill killPlan, command ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, l.o.HookTimeout)
	defer cancel()
	out, err := l.openLog(u, c)
	if err != nil {
		return outcome{err: err}
	}
	defer out.Close()
	c.Log = out.jujuLog

	if len(command) == 0 {
		command = []string{filepath.Join(u.CharmDir(), "dispatch")}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	kill = u.watched(kill)
	cmd.Dir, cmd.Env = u.CharmDir(), append(env, l.path(u, kill.traced))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, &stdout), io.MultiWriter(out, &stderr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = pipeGrace
	if err := u.Machine.Enter(cmd); err != nil {
		return outcome{err: err}
	}

	listener, err := u.listenForTools()
	if err != nil {
		return outcome{err: err}
	}
	defer listener.Close()
	if err := cmd.Start(); err != nil {
		return outcome{err: err}
	}
	served := serve(u, listener, c, kill, cmd.Cancel)
	defer served.close()
	u.hook.Store(cmd.Process)
	err = cmd.Wait()
	u.hook.Store(nil)
	result := outcome{code: cmd.ProcessState.ExitCode(), output: out.text(), stdout: stdout.Bytes(), stderr: stderr.Bytes()}
	result.killed, result.calls = served.end()
	// A program that had already ended by itself wasn't killed.
	result.killed = result.killed && result.code < 0
	switch exit := (*exec.ExitError)(nil); {
	case result.killed:
	case ctx.Err() != nil && result.code < 0:
		result.err = context.Cause(ctx)
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		result.err = exit
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		result.err = err
	}
	return result
}

// hookLog receives the output of a hook: for the unit's hooks.log, the lab's log, and a possible error.
type hookLog struct {
	mu   sync.Mutex
	file *os.File
	lab  *Lab
	name string
	all  []byte
	line []byte
}

func (l *Lab) openLog(u *Unit, c *hooktool.Context) (*hookLog, error) {
	file, err := os.OpenFile(filepath.Join(u.Machine.Dir, "hooks.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	name := c.Hook.String()
	if c.Action != nil {
		name = "action"
	}
	h := &hookLog{file: file, lab: l, name: u.name + " " + name}
	fmt.Fprintf(file, "--- %s %s\n", time.Now().UTC().Format(time.RFC3339), c.ID)
	l.logf("%s", h.name)
	return h, nil
}

func (h *hookLog) jujuLog(level, message string) { fmt.Fprintf(h, "%s %s\n", level, message) }

// Write implements [io.Writer].
func (h *hookLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, p...)
	h.line = append(h.line, p...)
	for {
		line, rest, found := bytes.Cut(h.line, []byte{'\n'})
		if !found {
			break
		}
		h.lab.logf("%s: %s", h.name, line)
		h.line = rest
	}
	return h.file.Write(p)
}

func (h *hookLog) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.all)
}

// Close implements [io.Closer].
func (h *hookLog) Close() error { return h.file.Close() }
