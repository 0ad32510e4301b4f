package machines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// outputLimit is how many bytes from the end of a failed command's output an error shows: the end has the reason.
const outputLimit = 4 << 10

// pipeGrace is how long a background process may hold a command's output open.
const pipeGrace = 2 * time.Second

// run runs a program and returns its standard output. The end of ctx kills its whole process group.
func run(ctx context.Context, name string, args ...string) (string, error) {
	return runWith(ctx, exec.CommandContext(ctx, name, args...), append([]string{name}, args...))
}

func runWith(ctx context.Context, cmd *exec.Cmd, shown []string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = pipeGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return stdout.String(), nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	said := tail(strings.TrimSpace(stderr.String()+stdout.String()), outputLimit)
	return stdout.String(), fmt.Errorf("cannot run %q: %w: %s", strings.Join(shown, " "), err, said)
}

func tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if _, rest, found := strings.Cut(text, "\n"); found {
		return rest
	}
	return text
}

// systemPath is the PATH of a root shell on Debian.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Exec runs a program as root, also without the network, and returns its output.
func (m *Machine) Exec(ctx context.Context, args ...string) (string, error) {
	if !m.On() {
		return "", fmt.Errorf("cannot run %q on %s: it is off", strings.Join(args, " "), m.Name())
	}
	return m.enter(ctx, args...)
}

// Shell runs a shell script on the machine, which ends at the first command that fails.
func (m *Machine) Shell(ctx context.Context, script string, args ...string) (string, error) {
	return m.Exec(ctx, append([]string{"sh", "-euc", script, "sh"}, args...)...)
}

func (m *Machine) enter(ctx context.Context, args ...string) (string, error) {
	all := append([]string{
		"--target", strconv.Itoa(m.init), "--all", "--",
		"env", "-i", "PATH=" + systemPath, "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
	}, args...)
	return runWith(ctx, exec.CommandContext(ctx, "nsenter", all...), append([]string{m.Name() + ":"}, args...))
}

// findInit returns the host's process ID of the machine's pid 1; 0 if there is none yet.
func (m *Machine) findInit() int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.cmd.Process.Pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err == nil && isInit(pid) {
				return pid
			}
		}
	}
	return 0
}

// isInit reports whether a process is pid 1 of a namespace (proc(5): the last number of NSpid is the innermost).
func isInit(pid int) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if numbers, found := strings.CutPrefix(line, "NSpid:"); found {
			fields := strings.Fields(numbers)
			return len(fields) == 2 && fields[1] == "1"
		}
	}
	return false
}

// WriteFile writes a file to the machine's disk, with the directories above it.
func (m *Machine) WriteFile(path string, data []byte, mode os.FileMode) error {
	disk, err := os.OpenRoot(m.Root())
	if err != nil {
		return err
	}
	defer disk.Close()
	path = strings.TrimPrefix(path, "/")
	if err := disk.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := disk.WriteFile(path, data, mode); err != nil {
		return err
	}
	return disk.Chmod(path, mode)
}

// ReadFile reads a file on the machine's disk, even if the machine is off.
func (m *Machine) ReadFile(path string) ([]byte, error) {
	disk, err := os.OpenRoot(m.Root())
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	return disk.ReadFile(strings.TrimPrefix(path, "/"))
}
