package ovsctl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// copyTimeout bounds the copy of a database, or one read of it. Large databases get more time ([raft.Patience]). With
// OVS 3.1 and 80 MiB, ovsdb-client's backup takes 3.5 s, a load of the copy 1.5 s.
const copyTimeout = 2 * time.Minute

// gently runs a program with the lowest priority.
func gently(name string, args ...string) run.Command {
	return run.Command{Name: "nice", Args: append([]string{"-n", "19", name}, args...)}
}

// Export copies database d, as this unit's server has it, to a new file of a standalone database, in one transaction
// (ovsdb-client(1), backup). While the server makes the answer, it serves no other client.
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

// Load reads the file of a standalone database as a server does at its start, and returns the version of its schema. A
// file of another database is an error.
func (f Files) Load(ctx context.Context, d ovndb.Database, path string) (schema string, err error) {
	query := fmt.Sprintf(`[%q,{"op":"select","table":%q,"where":[],"columns":["_uuid"]}]`, d, d.GlobalTable())
	return f.load(ctx, "load", path, "query", path, query)
}

// Change makes a transaction (RFC 7047, 4.1.3) in the file of a standalone database. It returns the version of the
// database's schema.
func (f Files) Change(ctx context.Context, path, transaction string) (schema string, err error) {
	return f.load(ctx, "change", path, "transact", path, transaction)
}

// load runs a command of ovsdb-tool that loads a standalone database. verb is for errors.
func (f Files) load(ctx context.Context, verb, path string, command ...string) (schema string, err error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(copyTimeout, raftfile.Size(path)))
	defer cancel()
	if err := f.loading(ctx, path, command...); err != nil {
		return "", fmt.Errorf("cannot %s %s: %w", verb, path, err)
	}
	return f.askTool(ctx, "db-version", path)
}

// loading runs a command of ovsdb-tool that locks the file at path. It removes the lock file, which ovsdb-tool
// leaves.
func (f Files) loading(ctx context.Context, path string, command ...string) error {
	defer os.Remove(lockFile(path))
	_, err := f.Runner.Run(ctx, gently("ovsdb-tool", append([]string{"--verbose=console:off"}, command...)...))
	return err
}

// Newer reports whether version a of a schema is newer than b. It returns an error if either is not a version.
func Newer(a, b string) (bool, error) {
	one, err := ovndb.ParseSchemaVersion(a)
	if err != nil {
		return false, err
	}
	other, err := ovndb.ParseSchemaVersion(b)
	return other.Before(one), err
}

// Extract copies the contents of the file of database d to a new file of a standalone database, including entries
// that may not be committed (see [raftfile.Standalone]).
func (f Files) Extract(ctx context.Context, d ovndb.Database, to string) error {
	_, err := f.ExtractUpTo(ctx, d, math.MaxUint64, to)
	return err
}

// ExtractUpTo is like [Files.Extract], but copies only the snapshot and the entries up to index. It returns the index
// of the newest copied entry.
func (f Files) ExtractUpTo(ctx context.Context, d ovndb.Database, index uint64, to string) (last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(copyTimeout, raftfile.Size(f.Paths.File(d))))
	defer cancel()
	convert := func(ctx context.Context, path, schema string) error {
		return f.loading(ctx, path, "convert", path, schema)
	}
	last, err = raftfile.Standalone(ctx, f.Paths.File(d), index, to, convert)
	if err != nil {
		err = fmt.Errorf("cannot copy the file of %s: %w", d, err)
	}
	return last, err
}
