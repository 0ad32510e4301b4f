package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
)

// Snapshot is the state of a lab at one moment. [Snapshot.Open] makes other labs from it, in which no hook needs to
// run.
type Snapshot struct {
	from, dir string // the directories of the lab that was copied, and of the copy
	kept      []byte
	leaders   map[DB]string // of the clusters
}

// Snapshot copies a settled lab, all of whose servers run, to dir, which it makes. It stops nothing: a server can
// start again with the files of a database to which nothing is written meanwhile.
func (l *Lab) Snapshot(ctx context.Context, dir string) (*Snapshot, error) {
	s := &Snapshot{from: l.o.Dir, dir: dir, leaders: map[DB]string{}}
	if err := l.takeSnapshot(ctx, s); err != nil {
		return nil, fmt.Errorf("cannot copy the lab: %w", err)
	}
	return s, nil
}

func (l *Lab) takeSnapshot(ctx context.Context, s *Snapshot) error {
	for _, db := range Databases {
		leader, err := l.RaftLeader(ctx, db)
		if err != nil {
			return err
		}
		s.leaders[db] = leader.name
	}
	for _, u := range l.Units() {
		if err := u.Machine.NoteRunning(ctx); err != nil {
			return err
		}
		defer func() { _ = u.Machine.RemoveNote() }() // of a process that is only copied
	}
	err := await(ctx, func() (bool, error) {
		before, err := l.writtenDBs()
		if err == nil {
			err = errors.Join(os.RemoveAll(s.dir), copyLab(l.o.Dir, s.dir, strings.NewReplacer()))
		}
		after, wrong := l.writtenDBs()
		return before == after, errors.Join(err, wrong)
	})
	if err == nil {
		s.kept, err = l.encode()
	}
	return err
}

// writtenDBs returns a text that changes when a server writes to its database's file.
func (l *Lab) writtenDBs() (string, error) {
	var text strings.Builder
	for _, u := range l.Units() {
		for _, db := range Databases {
			info, err := os.Stat(u.DBFile(db))
			if err != nil {
				return "", err
			}
			fmt.Fprintln(&text, info.Size(), info.ModTime())
		}
	}
	return text.String(), nil
}

// copyLab copies a lab's directory; the copy's machines are off. It replaces names in files and links, but not in
// databases: their records have checksums, and name directories only in comments. It links executables, since nothing
// changes them.
func copyLab(from, to string, rename *strings.Replacer) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		own := to + strings.TrimPrefix(path, from)
		switch mode := info.Mode(); {
		case machine.Transient(path) && entry.IsDir():
			return fs.SkipDir
		case machine.Transient(path):
			return nil
		case entry.IsDir():
			return os.MkdirAll(own, mode.Perm())
		case mode.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(rename.Replace(target), own))
		case !mode.IsRegular():
			return nil // a socket
		case mode.Perm()&0o111 != 0:
			return os.Link(path, own)
		default:
			text, err := os.ReadFile(path)
			if filepath.Ext(path) != ".db" {
				text = []byte(rename.Replace(string(text)))
			}
			return errors.Join(err, os.WriteFile(own, text, mode.Perm()))
		}
	})
}

// Open makes a lab with the snapshot's units, processes and leaders.
func (s *Snapshot) Open(ctx context.Context, log io.Writer) (_ *Lab, err error) {
	var o Options
	if err := o.makeDir(); err != nil {
		return nil, fmt.Errorf("cannot make a lab: %w", err)
	}
	l := newOf(o)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("cannot open a copy of a lab: %w", err), l.Close())
		}
	}()
	if err := copyLab(s.dir, o.Dir, strings.NewReplacer(s.from, o.Dir)); err != nil {
		return nil, err
	}
	copied, err := load(s.kept, o.Dir, log)
	if err != nil {
		return nil, err
	}
	l = copied
	if l.guard, err = machine.StartGuard(l.program, o.Dir); err != nil {
		return nil, err
	}
	return l, l.resume(ctx, s.leaders)
}

// resume starts the servers, and everything else once the former leaders are elected.
func (l *Lab) resume(ctx context.Context, leaders map[DB]string) error {
	units := l.Units()
	for _, m := range append([]*machine.Machine{l.hub}, machinesOf(units)...) {
		if err := m.Boot(ctx, l.program); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	failed := make([]error, len(Databases))
	for i, db := range Databases {
		group.Go(func() { failed[i] = l.resumeServers(ctx, db, l.units[leaders[db]]) })
	}
	group.Wait()
	for _, m := range machinesOf(units) {
		failed = append(failed, m.Resume(ctx))
	}
	return errors.Join(failed...)
}

func machinesOf(units []*Unit) (all []*machine.Machine) {
	for _, u := range units {
		all = append(all, u.Machine)
	}
	return all
}

// resumeServers continues the servers of a database, the former leader last. The others are suspended until it asks for
// their votes, after one or two election timers, so that it is elected again.
func (l *Lab) resumeServers(ctx context.Context, db DB, leader *Unit) error {
	others := slices.DeleteFunc(l.Units(), func(u *Unit) bool { return u == leader })
	all := append(slices.Clone(others), leader)
	for _, u := range all {
		if err := u.Machine.Resume(ctx, db.Service()); err != nil {
			return err
		}
	}
	for {
		err := leader.awaitStatus(ctx, db, func(status string) bool { return !strings.Contains(status, " (->") })
		for _, u := range others {
			err = errors.Join(err, u.Hang(db))
		}
		asks := func(status string) bool { return field(status, "Role") != "follower" }
		err = errors.Join(err, leader.awaitStatus(ctx, db, asks))
		for _, u := range others {
			err = errors.Join(err, u.Resume(db))
		}
		for _, u := range all {
			err = errors.Join(err, u.awaitStatus(ctx, db, connected))
		}
		elected, wrong := l.RaftLeader(ctx, db)
		if err = errors.Join(err, wrong); err != nil || elected == leader {
			return err
		}
	}
}

// connected reports whether a cluster/status has a leader, and all connections are up.
func connected(status string) bool {
	return settled(status) && !strings.Contains(field(status, "Connections"), "(")
}

// awaitStatus waits for a status of the database's server.
func (u *Unit) awaitStatus(ctx context.Context, db DB, wanted func(status string) bool) error {
	return await(ctx, func() (bool, error) {
		text, err := u.Status(ctx, db)
		return err == nil && wanted(text), errors.Join(err, fmt.Errorf("the status of %s on %s is:\n%s", db, u.name, text))
	})
}
