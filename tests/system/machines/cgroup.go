package machines

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hierarchies are the directories of the control group hierarchies in which
// systemd-nspawn looks for the group that it runs in: that of version 2, and,
// where the host has both versions, systemd's own of version 1.
func hierarchies() ([]string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("cannot find control groups: %w", err)
	}
	found := cgroupMounts(string(text))
	if len(found) == 0 {
		return nil, errors.New("cannot find control groups: no hierarchy of version 2 is mounted")
	}
	return found, nil
}

// cgroupMounts reads mountinfo, whose form is in proc(5): the fifth field is
// where the mount is; type, source and options are behind a dash.
func cgroupMounts(mountinfo string) []string {
	var found []string
	for line := range strings.Lines(mountinfo) {
		mount, filesystem, _ := strings.Cut(strings.TrimSpace(line), " - ")
		fields, kind := strings.Fields(mount), strings.Fields(filesystem)
		if len(fields) < 5 || len(kind) < 3 {
			continue
		}
		if kind[0] == "cgroup2" || kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "name=systemd") {
			found = append(found, fields[4])
		}
	}
	return found
}

// groups are the control groups of a machine, one in each hierarchy. Machines
// that share a group see each other's processes in it, and systemctl fails.
func (f *Fleet) groups(machine string) []string {
	groups := make([]string, len(f.cgroups))
	for i, dir := range f.cgroups {
		groups[i] = filepath.Join(dir, machine)
	}
	return groups
}

// processes are those in a control group and in the groups below it.
func processes(group string) ([]int, error) {
	var pids []int
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return ignoreMissing(err)
		}
		file, err := os.Open(path)
		if err != nil {
			return ignoreMissing(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// 0 is a process of another pid namespace, which can't be here.
			if pid, err := strconv.Atoi(lines.Text()); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids, err
}

// removeGroup removes a control group without processes, with the groups below
// it.
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

// ignoreMissing is nil for what is gone: groups go while they are looked at.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
