package converge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/deploy"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// minFree is the space, in bytes, below which the databases' disk counts as full.
// It is our own choice: a transaction of a busy cloud is smaller.
const minFree = 512 << 10

// diskMark stands, where it is gone with the next boot, for a disk that was full
// while a server ran. One whose write has failed goes on as if nothing had
// happened: it stores no more, its own status looks well, and what it writes later,
// behind the gap, makes a file that no server can load. Only a restart mends it, as
// soon as there is space again. Measured on OVS 3.1.
func (u *Unit) diskMark(service deploy.Service) string {
	return filepath.Join(u.Paths.Run, string(service)+".disk-was-full")
}

// servers are the services that write to the disk.
func servers() []deploy.Service {
	return []deploy.Service{deploy.NorthboundServer, deploy.SouthboundServer}
}

// disk says what is wrong with the disk of the databases; empty if nothing is.
func (u *Unit) disk() (problem string, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(u.Paths.DB, &stat); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("cannot look at the disk of %s: %w", u.Paths.DB, err)
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if outOfFiles := stat.Files > 0 && stat.Ffree == 0; free >= minFree && !outOfFiles {
		return "", nil
	}
	for _, service := range servers() {
		if _, err := os.Stat(u.Paths.Run); err != nil {
			continue // then no server runs
		}
		if err := atomicfile.Write(u.diskMark(service), nil, 0o644); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("no space left on the disk of %s (%d KiB free): what is written is lost; make space", u.Paths.DB, free>>10), nil
}

// damaged says why the file of a server that ran on a full disk can't be loaded any
// more; empty where it can, or the disk was not full.
func (u *Unit) damaged(ctx context.Context, db raft.Database) (string, error) {
	_, err := os.Stat(u.diskMark(deploy.ServiceOf(db)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return u.Files.Damaged(ctx, db)
}

// diskWasFull adds the restarts that are due once there is space again.
func (u *Unit) diskWasFull(pending map[deploy.Service]string) map[deploy.Service]string {
	for _, service := range servers() {
		if _, err := os.Stat(u.diskMark(service)); err != nil {
			continue
		}
		if pending == nil {
			pending = map[deploy.Service]string{}
		}
		pending[service] = "its disk was full"
	}
	return pending
}
