package ovsctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// ErrFileExists is returned if the database has a file already. That file is never replaced: it may be the only copy.
var ErrFileExists = errors.New("there is a database file already")

// A new database file is made in three steps. A kill in any of them leaves either nothing or a whole file:
//
//	FILE.making  ovsdb-tool writes it; the next try removes an unfinished one
//	FILE.new     whole and on the disk, but no server finds it (only of a new cluster)
//	FILE         a server starts on it; never replaced
const (
	makingSuffix = ".making"
	stagedSuffix = ".new"
)

// CreateCluster makes the file of a new cluster and describes it. This server, at address (PROTO:HOST:PORT), is the
// only member. No server finds the file before [Files.Commit], so that the cluster's ID can be published first. If an
// earlier call has staged a file for the same address, CreateCluster keeps it, whatever its election timer, since its
// ID may be published already. It replaces a file that was staged for another address. If the database has a file, it
// returns [ErrFileExists].
func (f Files) CreateCluster(ctx context.Context, d ovndb.Database, address string,
	electionTimer time.Duration,
) (File, error) {
	if err := f.vacant(d); err != nil {
		return File{}, err
	}
	staged, err := f.Staged(ctx, d)
	if err != nil {
		return File{}, err // do not discard it: its ID may be published
	}
	if staged.Exists && staged.Address == address {
		return staged, nil
	}
	return f.stage(ctx, d, fileTimeout, address, electionTimer, f.Paths.Schema(d))
}

// StageFrom is like [Files.CreateCluster], but the new cluster has the contents of a standalone database's file. It
// does not change the database's present file.
func (f Files) StageFrom(ctx context.Context, d ovndb.Database, address string, electionTimer time.Duration,
	contents string,
) (File, error) {
	return f.stage(ctx, d, raft.Patience(copyTimeout, raftfile.Size(contents)), address, electionTimer, contents)
}

// stage makes the file of a new cluster from a schema or a standalone database, for [Files.Commit].
func (f Files) stage(ctx context.Context, d ovndb.Database, patience time.Duration, address string,
	electionTimer time.Duration, contents string,
) (File, error) {
	timer := "--election-timer=" + strconv.FormatInt(electionTimer.Milliseconds(), 10)
	made, err := f.make(ctx, d, patience, timer, "create-cluster", f.making(d), contents, address)
	if err != nil {
		return File{}, err
	}
	made.Path = f.staged(d)
	if err = os.Rename(f.making(d), made.Path); err == nil {
		err = atomicfile.SyncDir(f.Paths.DB)
	}
	if err != nil {
		return File{}, fmt.Errorf("cannot stage the new cluster of %s: %w", d, err)
	}
	return made, nil
}

// Staged returns the file that CreateCluster has made and that is not yet committed. If Commit was killed and the
// committed file still has both names, Staged removes the old one: an old copy of a member must never be committed.
// The copies may differ, since a compaction replaces the committed file.
func (f Files) Staged(ctx context.Context, d ovndb.Database) (File, error) {
	staged, err := f.inspect(ctx, d, f.staged(d))
	if err != nil || staged.Server == "" {
		return staged, err
	}
	if placed, err := f.inspect(ctx, d, f.Paths.File(d)); err == nil && placed.Server == staged.Server {
		return File{Path: staged.Path}, f.Discard(d)
	}
	return staged, nil
}

// Commit renames the staged file, so that a server starts on it. If the database has another file, it returns
// [ErrFileExists]. It is idempotent.
func (f Files) Commit(d ovndb.Database) error {
	if err := f.place(f.staged(d), f.Paths.File(d)); err != nil {
		return fmt.Errorf("cannot install the new cluster's file of %s: %w", d, err)
	}
	return nil
}

// Discard removes the staged file, if there is one. The caller has made sure that no unit will join its cluster.
func (f Files) Discard(d ovndb.Database) error {
	if err := os.Remove(f.staged(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot discard the new cluster's file of %s: %w", d, err)
	}
	return nil
}

// JoinCluster makes the file of a server, at address local, that joins the cluster with this ID through any of the
// remotes (PROTO:HOST:PORT). Without an ID, a server would join any cluster that answers, even the other database's.
// If the database has a file, it returns [ErrFileExists].
func (f Files) JoinCluster(ctx context.Context, d ovndb.Database, cid raft.ID, local string, remotes []string) error {
	if _, ok := raft.ParseID(string(cid)); !ok || len(remotes) == 0 {
		return fmt.Errorf("cannot join %s: it takes a cluster ID and at least one remote, not %q and %q", d, cid, remotes)
	}
	if err := f.vacant(d); err != nil {
		return err
	}
	args := append([]string{"--cid=" + string(cid), "join-cluster", f.making(d), string(d), local}, remotes...)
	made, err := f.make(ctx, d, fileTimeout, args...)
	if err != nil {
		return err
	}
	if made.Cluster != cid {
		return fmt.Errorf("cannot join %s: ovsdb-tool made a file of cluster %q, not %s", d, made.Cluster, cid)
	}
	if err := f.place(f.making(d), f.Paths.File(d)); err != nil {
		return fmt.Errorf("cannot install the file of %s for joining: %w", d, err)
	}
	return nil
}

func (f Files) making(d ovndb.Database) string { return f.Paths.File(d) + makingSuffix }

func (f Files) staged(d ovndb.Database) string { return f.Paths.File(d) + stagedSuffix }

func (f Files) vacant(d ovndb.Database) error {
	switch _, err := os.Lstat(f.Paths.File(d)); {
	case err == nil:
		return fmt.Errorf("%w: %s", ErrFileExists, f.Paths.File(d))
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot look for a database file: %w", err)
	}
	return nil
}

// make makes ovsdb-tool write FILE.making, syncs that file, and describes it.
func (f Files) make(ctx context.Context, d ovndb.Database, patience time.Duration, args ...string) (File, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := f.making(d)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, fmt.Errorf("cannot remove an unfinished database file: %w", err)
	}
	// ovsdb-tool locks the file that it writes, and leaves the lock file behind.
	defer os.Remove(lockFile(path))
	// Turn off warnings, which repeat the last line of its output.
	quiet := append([]string{"--verbose=console:off"}, args...)
	_, err := f.Runner.Run(ctx, run.Command{Name: "ovsdb-tool", Args: quiet})
	var made File
	if err == nil {
		made, err = f.inspect(ctx, d, path)
	}
	if err == nil && (!made.Clustered || made.Server == "" || made.Cluster == "") {
		err = fmt.Errorf("ovsdb-tool wrote a file without a server or cluster ID: %s", path)
	}
	if err == nil {
		err = syncFile(path)
	}
	if err != nil {
		_ = os.Remove(path) // otherwise the next try removes it
		return File{}, fmt.Errorf("cannot make the database file of %s: %w", d, err)
	}
	return made, nil
}

// place renames the file, unless another file has the name. A kill leaves both names; the next call, or
// [Files.Staged], removes the old one.
func (f Files) place(from, to string) error {
	switch err := os.Link(from, to); {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(to); err == nil {
			return nil // an earlier call has done it
		}
		return err
	case errors.Is(err, fs.ErrExist):
		if !same(from, to) {
			return fmt.Errorf("%w: %s", ErrFileExists, to)
		}
	case err != nil:
		return err
	}
	if err := os.Remove(from); err != nil {
		return err
	}
	return atomicfile.SyncDir(f.Paths.DB)
}

func same(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

func lockFile(path string) string {
	dir, base := filepath.Split(path)
	return filepath.Join(dir, "."+base+".~lock~")
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
