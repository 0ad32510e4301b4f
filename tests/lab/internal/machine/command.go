package machine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pipeGrace is how long a process that a command left behind may hold its output
// open.
const pipeGrace = time.Second

// Command is a program of the machine, with the environment that systemd would
// give it, not the hook's: the wrappers and hook tools aren't on its PATH.
func (m *Machine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := m.SystemPath()
	cmd := exec.CommandContext(ctx, name, args...)
	if !strings.Contains(name, "/") {
		cmd.Path, cmd.Err = lookPath(path, name)
	}
	cmd.Env = append(m.Environment(), "PATH="+path, "LC_ALL=C")
	cmd.Dir, cmd.WaitDelay = m.Dir, pipeGrace
	return cmd
}

// SystemPath is the PATH of the machine's system programs: systemctl, the
// caller's without what is the lab's, and the places where OVN's servers are.
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

// lookPath finds an executable file in the directories of path.
func lookPath(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return name, &exec.Error{Name: name, Err: exec.ErrNotFound}
}
