package machines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// sweep removes everything with our name, of this run or a killed one. The lock excludes other runs.
func (f *Fleet) sweep(ctx context.Context) error {
	var groups []string
	for _, dir := range f.cgroups {
		found, err := filepath.Glob(filepath.Join(dir, prefix+"-*"))
		if err != nil {
			return fmt.Errorf("cannot list control groups: %w", err)
		}
		groups = append(groups, found...)
	}
	if err := endProcesses(ctx, groups); err != nil {
		return err
	}
	errs := []error{unmountBelow(f.runDir), removeNamespaces(ctx)}
	for _, group := range groups {
		errs = append(errs, removeGroup(group))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot clean up: %w", err)
	}
	return os.RemoveAll(f.runDir)
}

func endProcesses(ctx context.Context, groups []string) error {
	return poll.Until(ctx, 50*time.Millisecond, func() error {
		running := 0
		for _, group := range groups {
			pids, err := processes(group)
			if err != nil {
				return fmt.Errorf("cannot list the processes of machines: %w", err)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
					return fmt.Errorf("cannot end the processes of machines: %w", err)
				}
			}
			running += len(pids)
		}
		if running > 0 {
			return fmt.Errorf("%d processes of machines have not ended", running)
		}
		return nil
	})
}

func unmountBelow(dir string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("cannot list mounts: %w", err)
	}
	for _, line := range slices.Backward(strings.Split(string(text), "\n")) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(fields[4], dir+"/") {
			continue
		}
		if err := syscall.Unmount(fields[4], syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("cannot unmount %s: %w", fields[4], err)
		}
	}
	return nil
}

func removeNamespaces(ctx context.Context) error {
	list, err := run(ctx, "ip", "netns", "list")
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == prefix || strings.HasPrefix(name, prefix+"-") {
			_, deleted := run(ctx, "ip", "netns", "del", name)
			err = errors.Join(err, deleted)
		}
	}
	return err
}

// hierarchies returns the control group hierarchies in which systemd-nspawn looks for its own group: version 2, and
// systemd's own of version 1 if the host has both. In mountinfo (proc(5)) the fifth field is the mount point; type,
// source and options follow a dash.
func hierarchies() (found []string, err error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("cannot find control groups: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		mount, filesystem, _ := strings.Cut(strings.TrimSpace(line), " - ")
		fields, kind := strings.Fields(mount), strings.Fields(filesystem)
		if len(fields) < 5 || len(kind) < 3 {
			continue
		}
		if kind[0] == "cgroup2" || kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "name=systemd") {
			found = append(found, fields[4])
		}
	}
	if len(found) == 0 {
		return nil, errors.New("cannot find control groups: no hierarchy is mounted")
	}
	return found, nil
}

// groups returns a machine's control groups, one in each hierarchy: in a shared group systemctl fails.
func (f *Fleet) groups(machine string) []string {
	groups := make([]string, len(f.cgroups))
	for i, dir := range f.cgroups {
		groups[i] = filepath.Join(dir, machine)
	}
	return groups
}

// processes returns the processes in a control group and in the groups below it.
func processes(group string) ([]int, error) {
	var pids []int
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return ignoreMissing(err)
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			// 0 is a process of another pid namespace, which can't be here.
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return ignoreMissing(err)
	})
	return pids, err
}

// removeGroup removes a control group without processes, with the groups below it.
func removeGroup(group string) error {
	var dirs []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return ignoreMissing(err)
	})
	for _, dir := range slices.Backward(dirs) {
		err = errors.Join(err, ignoreMissing(os.Remove(dir)))
	}
	return err
}

// ignoreMissing drops the error of a group that has vanished meanwhile.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
