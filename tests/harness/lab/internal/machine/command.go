package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// pipeGrace is how long a background process may hold a command's output open.
const pipeGrace = time.Second

// Command returns a command for a program on the machine, with the environment of a root shell there and without hook
// tools. It runs in the machine's network. Its error is [ErrOff] if the machine is off.
func (m *Machine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := m.SystemPath()
	cmd := exec.CommandContext(ctx, name, args...)
	if !strings.Contains(name, "/") {
		cmd.Path, cmd.Err = lookPath(path, name)
	}
	cmd.Env = append(m.Environment(), "PATH="+path, "LC_ALL=C")
	cmd.Dir, cmd.WaitDelay = m.Dir, pipeGrace
	if err := m.Enter(cmd); err != nil && cmd.Err == nil {
		cmd.Err = err
	}
	return cmd
}

// Enter makes a command, before it is started, run in the machine's network namespace in the same process.
func (m *Machine) Enter(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	namespace, err := m.Namespace()
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", filepath.Base(cmd.Path), err)
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	cmd.Args = slices.Concat([]string{nsenter, "--net=" + namespace, "--", cmd.Path}, cmd.Args[1:])
	cmd.Path = nsenter
	return nil
}

// On reports whether the machine is on.
func (m *Machine) On() bool {
	_, on := m.init()
	return on
}

// Namespace returns the file of the machine's network, for nsenter(1) or setns(2). It changes with each boot.
func (m *Machine) Namespace() (string, error) {
	self, on := m.init()
	if !on {
		return "", fmt.Errorf("%s: %w", filepath.Base(m.Dir), ErrOff)
	}
	return namespaceOf(self.PID), nil
}

// SystemPath returns the PATH of the machine's programs: the lab's replacements, the caller's PATH, and OVN's servers.
func (m *Machine) SystemPath() string {
	dirs := []string{m.BinDir()}
	for _, dir := range slices.Concat(filepath.SplitList(os.Getenv("PATH")),
		[]string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
		if dir != "" && !strings.HasPrefix(dir, m.Lab+"/") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, ":")
}

func lookPath(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return name, &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// The names of the lab's program when it runs as a guard or an init. Its argument is the directory.
const (
	guardName = "ovn-lab-guard"
	initName  = "ovn-lab-init"
)

// Clean kills every process of the lab in dir, repeatedly: a hook that is being killed may just have started one.
func Clean(dir string) error {
	for range 2 {
		files, err := filepath.Glob(filepath.Join(dir, "*", fileName))
		if err != nil {
			return err
		}
		var errs []error
		for _, file := range files {
			m, err := Load(filepath.Dir(file))
			if err == nil {
				err = m.KillAll()
			}
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("cannot clean up the lab: %w", err)
		}
	}
	return nil
}

// Guard is a process that outlives its owner, only to clean up after it.
type Guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// StartGuard starts program as the guard of the lab in dir. When this process ends without [Guard.Release], the guard
// kills what the lab started, and removes dir.
func StartGuard(program, dir string) (*Guard, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	defer read.Close()
	cmd := exec.Command(program, dir)
	cmd.Args[0] = guardName
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	return &Guard{cmd, write}, nil
}

// Release ends the guard without letting it clean up.
func (g *Guard) Release() error {
	_, err := g.pipe.Write([]byte{'.'})
	g.pipe.Close()
	return errors.Join(err, g.cmd.Wait())
}

func guardMain(dir string) int {
	if n, _ := io.ReadFull(os.Stdin, make([]byte, 1)); n == 1 {
		return 0
	}
	if err := errors.Join(Clean(dir), os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure
	}
	return 0
}
