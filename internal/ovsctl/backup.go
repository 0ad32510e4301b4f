package ovsctl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// copyTimeout bounds the copy of a database, and the reading of one, with what its size
// adds ([raft.Patience]). Measured on OVS 3.1 with 80 MiB: ovsdb-client's backup takes
// 3.5 s, a load of the copy 1.5 s.
const copyTimeout = 2 * time.Minute

// gently runs a program behind everything else that the machine has to do.
func gently(name string, args ...string) run.Command {
	return run.Command{Name: "nice", Args: append([]string{"-n", "19", name}, args...)}
}

// Export writes what this unit's server has of database d to a new file, which is that
// of a standalone database: one transaction, and so of one moment (ovsdb-client(1),
// backup). The server is silent while it puts the answer together.
func (f Files) Export(ctx context.Context, d ovndb.Database, to string) error {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(copyTimeout, raftfile.Size(f.Paths.File(d))))
	defer cancel()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot copy %s: %w", d, err)
	}
	c := gently("ovsdb-client", "--no-leader-only", "backup", "unix:"+f.Paths.Socket(d), string(d))
	c.Stdout = file
	_, err = f.Runner.Run(ctx, c)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("cannot copy %s: %w", d, errors.Join(err, os.Remove(to)))
	}
	return nil
}

// Load reads the file of a standalone database as a server does when it starts, and says
// which version its schema has. A file of another database is an error.
func (f Files) Load(ctx context.Context, d ovndb.Database, path string) (schema string, err error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(copyTimeout, raftfile.Size(path)))
	defer cancel()
	query := fmt.Sprintf(`[%q,{"op":"select","table":%q,"where":[],"columns":["_uuid"]}]`, d, d.GlobalTable())
	defer os.Remove(lockFile(path))
	if _, err := f.Runner.Run(ctx, gently("ovsdb-tool", "--verbose=console:off", "query", path, query)); err != nil {
		return "", fmt.Errorf("cannot load %s: %w", path, err)
	}
	return f.askTool(ctx, "db-version", path)
}

// Change makes a transaction (RFC 7047, 4.1.3) in the file of a standalone database, which it
// loads as a server does, and says which version its schema has.
func (f Files) Change(ctx context.Context, path, transaction string) (schema string, err error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(copyTimeout, raftfile.Size(path)))
	defer cancel()
	defer os.Remove(lockFile(path))
	if _, err := f.Runner.Run(ctx, gently("ovsdb-tool", "--verbose=console:off", "transact", path,
		transaction)); err != nil {
		return "", fmt.Errorf("cannot change %s: %w", path, err)
	}
	return f.askTool(ctx, "db-version", path)
}

// Newer reports whether version a of a schema is newer than b. What is not a version is an
// error.
func Newer(a, b string) (bool, error) {
	one, err := ovndb.ParseSchemaVersion(a)
	if err != nil {
		return false, err
	}
	other, err := ovndb.ParseSchemaVersion(b)
	return other.Before(one), err
}

// StageFrom is [Files.CreateCluster] with the contents of the file of a standalone
// database, and beside the file that the database has, which it leaves as it is.
func (f Files) StageFrom(ctx context.Context, d ovndb.Database, address string, electionTimer time.Duration,
	contents string,
) (File, error) {
	timer := "--election-timer=" + strconv.FormatInt(electionTimer.Milliseconds(), 10)
	made, err := f.make(ctx, d, raft.Patience(copyTimeout, raftfile.Size(contents)), timer, "create-cluster", f.making(d),
		contents, address)
	if err != nil {
		return File{}, err
	}
	return f.stage(d, made)
}

// stage gives the file that was made the name under which it waits for its Commit.
func (f Files) stage(d ovndb.Database, made File) (File, error) {
	made.Path = f.staged(d)
	err := os.Rename(f.making(d), made.Path)
	if err == nil {
		err = atomicfile.SyncDir(f.Paths.DB)
	}
	if err != nil {
		return File{}, fmt.Errorf("cannot stage the new cluster of %s: %w", d, err)
	}
	return made, nil
}

// Extract writes what the file of database d holds, its newest entries too, which may not be
// committed, to a new file, which is that of a standalone database (see [Standalone]).
func (f Files) Extract(ctx context.Context, d ovndb.Database, to string) error {
	_, err := f.ExtractUpTo(ctx, d, math.MaxUint64, to)
	return err
}

// ExtractUpTo is [Files.Extract] of the entries up to index, or up to those that the file begins
// with. It returns the index of the newest that it has taken.
func (f Files) ExtractUpTo(ctx context.Context, d ovndb.Database, index uint64, to string) (last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(copyTimeout, raftfile.Size(f.Paths.File(d))))
	defer cancel()
	last, err = raftfile.Standalone(ctx, f.Paths.File(d), index, to, f.convert)
	if err != nil {
		err = fmt.Errorf("cannot copy the file of %s: %w", d, err)
	}
	return last, err
}

// convert brings a standalone database's file to a schema.
func (f Files) convert(ctx context.Context, path, schema string) error {
	defer func() { _ = os.Remove(lockFile(path)) }()
	_, err := f.Runner.Run(ctx, gently("ovsdb-tool", "--verbose=console:off", "convert", path, schema))
	return err
}
