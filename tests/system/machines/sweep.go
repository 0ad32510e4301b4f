package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sweep removes everything that bears our name, of this run or of one that was
// killed: processes, mounts, network namespaces, control groups, disks. The lock
// is held, so that no other run's is among it.
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

// endProcesses kills what runs in control groups and waits until it is gone.
func endProcesses(ctx context.Context, groups []string) error {
	var failed error
	err := poll(ctx, 50*time.Millisecond, func() bool {
		running := 0
		for _, group := range groups {
			pids, err := processes(group)
			failed = errors.Join(failed, err)
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
					failed = errors.Join(failed, err)
				}
			}
			running += len(pids)
		}
		return failed != nil || running == 0
	})
	if err = errors.Join(failed, err); err != nil {
		return fmt.Errorf("cannot end the processes of machines: %w", err)
	}
	return nil
}

// unmountBelow unmounts everything below dir, the latest mount first.
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
