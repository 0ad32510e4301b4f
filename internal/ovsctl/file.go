package ovsctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// fileTimeout bounds one call of ovsdb-tool. check-cluster reads the whole file: 500 MiB take 55 s. Large files get
// more time ([raft.Patience]).
const fileTimeout = 60 * time.Second

// File describes a database's file, whether a server runs or not.
type File struct {
	Path string
	// Exists reports whether there is a file. If not, nothing else is set.
	Exists bool
	// Head has only the name if the database is standalone.
	raftfile.Head
	// Left reports whether the file has a "left" record. No server starts on such a file.
	Left bool
}

// Files reads and makes database files by ovsdb-tool.
type Files struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// Answers caches the output of ovsdb-tool; nil caches nothing.
	Answers *StateCache
}

// Inspect reads the file of database d. It returns an error if the file is of another database, so that its ID is not
// published.
func (f Files) Inspect(ctx context.Context, d ovndb.Database) (File, error) {
	file, err := f.inspect(ctx, d, f.Paths.File(d))
	if err == nil && file.Clustered {
		file.Left, err = f.left(ctx, file.Path)
	}
	return file, err
}

// inspect is like [Files.Inspect], for any file, and does not set Left.
func (f Files) inspect(ctx context.Context, d ovndb.Database, path string) (File, error) {
	file := File{Path: path}
	if _, err := os.Stat(file.Path); errors.Is(err, fs.ErrNotExist) {
		return file, nil
	} else if err != nil {
		return file, fmt.Errorf("cannot look at the database file: %w", err)
	}
	file.Exists = true
	head, err := f.head(ctx, path)
	if err != nil {
		return file, err
	}
	if head.Name != string(d) {
		return file, fmt.Errorf("file %s holds the database %q, not %s", file.Path, head.Name, d)
	}
	file.Head = head
	return file, nil
}

// head returns the description of a file in its first record. It also names a standalone database.
func (f Files) head(ctx context.Context, path string) (h raftfile.Head, err error) {
	text, err := f.Answers.once("head", path, func() (string, error) {
		h, err := raftfile.ReadHead(ctx, path)
		if err == nil && !h.Clustered {
			h.Name, err = f.askTool(ctx, "db-name", path)
		}
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(h)
		return string(text), err
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &h)
	}
	return h, err
}

// left reports whether the file has the record that a server writes when it has left. For such a file ovsdb-tool
// check-cluster prints a warning and exits with code 0.
func (f Files) left(ctx context.Context, path string) (bool, error) {
	out, failed, err := f.check(ctx, "check-cluster", path)
	if found := strings.Contains(out, "left the cluster"); found || failed == nil {
		return found, err
	}
	// In a damaged file, check-cluster ends before it finds the record.
	out, _, err = f.check(ctx, "show-log", path)
	return strings.Contains(out, `note: "left"`), err
}

// Address returns the Raft address in the file of database d.
func (f Files) Address(ctx context.Context, d ovndb.Database) (string, error) {
	head, err := f.head(ctx, f.Paths.File(d))
	return head.Address, err
}

// Damaged returns why no server could load the file of database d; empty if a server could. A server may run
// meanwhile.
func (f Files) Damaged(ctx context.Context, d ovndb.Database) (string, error) {
	_, failed, err := f.check(ctx, "check-cluster", f.Paths.File(d))
	if failed == nil {
		return "", err
	}
	reason, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
	return reason, nil
}

// Joined reports whether, by its file, the server of database d may be a member: it has joined and not left
// (do_check_cluster() in ovsdb/ovsdb-tool.c). It reports true for an unreadable file, which may be a member's.
func (f Files) Joined(ctx context.Context, d ovndb.Database) (bool, error) {
	out, _, err := f.check(ctx, "check-cluster", f.Paths.File(d))
	for _, other := range []string{"has not joined the cluster", "not found in server list", "left the cluster"} {
		if strings.Contains(out, other) {
			return false, nil
		}
	}
	return true, err
}

// check runs a command of ovsdb-tool on a file, and returns all its output. failed is not nil if the command found a
// problem; err is not nil if it did not run to its end.
func (f Files) check(ctx context.Context, command, path string) (out string, failed *run.Error, err error) {
	out, err = f.tool(ctx, command, path)
	if errors.As(err, &failed) && failed.ExitCode >= 0 {
		return out + failed.Stderr, failed, nil
	}
	return out, nil, err
}

func (f Files) tool(ctx context.Context, command, path string) (string, error) {
	return f.Answers.once(command, path, func() (string, error) { return f.askTool(ctx, command, path) })
}

func (f Files) askTool(ctx context.Context, command, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(fileTimeout, raftfile.Size(path)))
	defer cancel()
	out, err := f.Runner.Run(ctx, run.Command{Name: "ovsdb-tool", Args: []string{command, path}})
	if err != nil {
		err = fmt.Errorf("cannot read %s: %w", path, err)
	}
	return strings.TrimSpace(string(out)), err // check-cluster prints something even if it fails
}

func exitCode(err error) int {
	if failed := (*run.Error)(nil); errors.As(err, &failed) {
		return failed.ExitCode
	}
	return -1
}

// Archive renames the file of database d to FILE.left-TIME, and returns the new name. The lock file stays for the
// next server. The caller has made sure that no server will use the file again.
func (f Files) Archive(d ovndb.Database, now time.Time) (string, error) {
	return archive(f.Paths.File(d), now)
}

// ArchiveStaged renames the staged file to FILE.new.left-TIME. The file is kept because it may have all data of a
// database.
func (f Files) ArchiveStaged(d ovndb.Database, now time.Time) (string, error) {
	return archive(f.staged(d), now)
}

func archive(from string, now time.Time) (string, error) {
	base := from + ".left-" + now.UTC().Format("20060102T150405Z")
	to := base
	_, err := os.Lstat(to)
	for n := 1; err == nil; n++ {
		to = fmt.Sprintf("%s.%d", base, n)
		_, err = os.Lstat(to)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(from, to)
	}
	if err != nil {
		return "", fmt.Errorf("cannot archive %s: %w", from, err)
	}
	return to, nil
}
