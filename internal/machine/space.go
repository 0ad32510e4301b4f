// Package machine reads the state of this machine from the kernel: free disk and memory, and connections.
package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// minFree is the space, in bytes, below which the databases' disk counts as full. A transaction of a busy cloud is
// smaller.
const minFree = 512 << 10

// DiskProblem describes the disk of the databases if it is full; empty if it isn't, or does not exist yet. The error is
// that of statfs(2).
func DiskProblem(p ovndb.Paths) (problem string, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(p.DB, &stat); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("cannot look at the disk of %s: %w", p.DB, err)
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if outOfFiles := stat.Files > 0 && stat.Ffree == 0; free >= minFree && !outOfFiles {
		return "", nil
	}
	return fmt.Sprintf("%s (%d KiB free)", p.DB, free>>10), nil
}

// FreeSpace returns the free space on the disk of a directory, in bytes.
func FreeSpace(dir string) (int64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("cannot look at the disk of %s: %w", dir, err)
	}
	return int64(stat.Bavail * uint64(stat.Bsize)), nil
}

// CopySpace returns the space, in bytes, for copies of files of these sizes, which are made one after the other: the
// largest is there twice.
func CopySpace(sizes ...int64) (need int64) {
	var largest int64
	for _, size := range sizes {
		need, largest = need+size, max(largest, size)
	}
	return need + largest
}

// AvailableMemory returns the memory that programs can get without swapping (MemAvailable in proc(5)), in bytes.
func AvailableMemory() (available int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "MemAvailable:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
