// Package backup makes and reads backups. A backup has consistent copies of the databases, as compressed standalone
// databases, and a manifest that describes them. Each copy was loaded once, and has a checksum.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// Service makes and reads backups on one unit.
type Service struct {
	Unit   string
	Files  ovsctl.Files
	Dialer *ovsdb.Dialer
	// Version is the installed version of OVN.
	Version func(context.Context) (version ovndb.Version, installed bool, err error)
	Now     func() time.Time
	// Progress reports progress to a person.
	Progress func(context.Context, string)
}

// A backup is a directory named after its time, in UTC. An unfinished one has another name, so that it is never
// mistaken for a complete one.
const (
	nameLayout   = "20060102T150405Z"
	makingPrefix = ".making-"
	lockName     = ".lock"
)

// DefaultKeep is how many backups are kept by default.
const DefaultKeep = 7

// ErrBusy is returned if another backup is being made in the same directory.
var ErrBusy = finding.Reason{Code: finding.BackupBusy}.Err()

// askTimeout limits the query whether this unit's server serves a database.
const askTimeout = 10 * time.Second

// Take makes a backup of both databases in dir, which it creates if it is missing. Then it removes all backups but
// keep, which include the new one. It returns the backup's path and manifest. After a failure, earlier backups are
// unchanged.
func (s *Service) Take(ctx context.Context, dir string, keep int) (string, Manifest, error) {
	dir, err := usable(dir, keep)
	if err != nil {
		return "", Manifest{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", Manifest{}, fmt.Errorf("cannot back up: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, lockName))
	if err != nil {
		return "", Manifest{}, fmt.Errorf("cannot back up to %s: %w", dir, err)
	}
	defer unlock()
	if err := tidy(dir); err != nil {
		return "", Manifest{}, err
	}
	if err := s.room(dir); err != nil {
		return "", Manifest{}, err
	}
	taken, err := s.moment(ctx, dir)
	if err != nil {
		return "", Manifest{}, fmt.Errorf("cannot back up: %w", err)
	}
	name := taken.Format(nameLayout)
	making, path := filepath.Join(dir, makingPrefix+name), filepath.Join(dir, name)
	if err := os.Mkdir(making, 0o700); err != nil {
		return "", Manifest{}, fmt.Errorf("cannot back up: %w", err)
	}
	m, err := s.fill(ctx, making, taken)
	if err == nil {
		err = os.Rename(making, path)
	}
	if err == nil {
		err = atomicfile.SyncDir(dir)
	}
	if err != nil {
		return "", m, fmt.Errorf("cannot back up: %w", errors.Join(err, os.RemoveAll(making)))
	}
	return path, m, prune(dir, keep, path)
}

// usable returns the directory without links in its path. It returns an error if no backup may be made there.
func usable(dir string, keep int) (string, error) {
	if keep < 1 || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("cannot back up to %q and keep %d: the path must be absolute, and at least 1 is kept", dir,
			keep)
	}
	resolved, err := trusted(dir)
	if err != nil {
		return "", fmt.Errorf("cannot back up to %s: %w", dir, err)
	}
	return resolved, nil
}

// Plan is what [Service.Take] would do now.
type Plan struct {
	// Databases are the copies to make. Their Size is the size of the database's file.
	Databases []Database
	// Removed are the paths of the backups that would be removed afterwards.
	Removed []string
}

// Plan returns what Take would do, or the error that it would foreseeably return. It changes nothing.
func (s *Service) Plan(ctx context.Context, dir string, keep int) (Plan, error) {
	dir, err := usable(dir, keep)
	if err != nil {
		return Plan{}, err
	}
	exists, err := existing(dir)
	if err == nil {
		err = s.room(exists)
	}
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	for _, d := range ovndb.Databases() {
		x := Database{Name: d, Size: raftfile.Size(s.Files.Paths.File(d))}
		if _, err := s.examine(ctx, d, &x); err != nil {
			return Plan{}, fmt.Errorf("cannot back up: %w", err)
		}
		p.Databases = append(p.Databases, x)
	}
	p.Removed, err = surplus(dir, keep, "")
	return p, err
}

func existing(dir string) (string, error) {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == "/" {
			return dir, err
		}
		dir = filepath.Dir(dir)
	}
}

// moment returns the second after which a new backup is named: now, or the next second that no backup in dir has.
// Copies of small databases take less than a second.
func (s *Service) moment(ctx context.Context, dir string) (time.Time, error) {
	for {
		now := s.Now().UTC()
		second := now.Truncate(time.Second)
		_, err := os.Lstat(filepath.Join(dir, second.Format(nameLayout)))
		if errors.Is(err, fs.ErrNotExist) {
			return second, nil
		}
		if err == nil {
			err = poll.Wait(ctx, second.Add(time.Second).Sub(now))
		}
		if err != nil {
			return second, err
		}
	}
}

// fill copies both databases into the directory, and writes the manifest last.
func (s *Service) fill(ctx context.Context, dir string, taken time.Time) (Manifest, error) {
	m := Manifest{Format: format, Taken: taken, Unit: s.Unit}
	version, _, err := s.Version(ctx)
	if err != nil {
		return m, err
	}
	m.OVN, m.OVS = version.OVN, version.OVS
	for _, d := range ovndb.Databases() {
		s.Progress(ctx, d.Short()+": copying")
		copied, err := s.copy(ctx, d, dir)
		if err != nil {
			return m, err
		}
		m.Databases = append(m.Databases, copied)
	}
	if err := m.write(dir); err != nil {
		return m, err
	}
	return m, atomicfile.SyncDir(dir)
}

func (s *Service) copy(ctx context.Context, d ovndb.Database, dir string) (Database, error) {
	x := Database{Name: d, File: strings.TrimSuffix(filepath.Base(s.Files.Paths.File(d)), ".db") + ".db.gz"}
	raw := filepath.Join(dir, d.Short()+".raw")
	defer os.Remove(raw)
	if err := s.source(ctx, d, raw, &x); err != nil {
		return x, err
	}
	s.Progress(ctx, d.Short()+": loading the copy to check it")
	var err error
	if x.Schema, err = s.Files.Load(ctx, d, raw); err != nil {
		return x, err
	}
	path := filepath.Join(dir, x.File)
	written, err := pack(ctx, raw, path)
	if err != nil {
		return x, err
	}
	x.Size, x.SHA256, x.Packed = written.size, written.plain, written.packed
	read, err := unpack(ctx, path, "", written.size)
	if err == nil && read != written {
		err = finding.Reason{Code: finding.WrittenWrong, Value: path}.Err()
	}
	return x, err
}

// source writes the database's content to the file raw. That is the server's content, or the file's if the server does
// not run or knows no leader.
//
// It reads the server's content from the server's file, up to the entry that clients see ("index" in _Server(5)). A
// request for all of the content takes several times the database's size of memory, and blocks other clients, with a
// large database for longer than the election timer. So source sends such a request only if the file lacks entries, or
// can't be copied.
func (s *Service) source(ctx context.Context, d ovndb.Database, raw string, x *Database) error {
	damage, err := s.examine(ctx, d, x)
	if err != nil {
		return err
	}
	if x.Source == FromFile {
		return s.Files.Extract(ctx, d, raw)
	}
	if damage == "" && x.Index > 0 {
		last, err := s.Files.ExtractUpTo(ctx, d, x.Index, raw)
		if err == nil && last >= x.Index {
			x.Index = last
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			s.Progress(ctx, fmt.Sprintf("%s: asking the server for all of it: %v", d.Short(), err))
		}
		if err := os.Remove(raw); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.Files.Export(ctx, d, raw)
}

// examine writes to x the database's state, and whether its server serves it. damage describes damage of the log in
// the database's file.
func (s *Service) examine(ctx context.Context, d ovndb.Database, x *Database) (damage string, err error) {
	file, err := s.Files.Inspect(ctx, d)
	if err != nil {
		return "", err
	}
	if !file.Exists || !file.Clustered {
		return "", finding.Reason{Code: finding.FileNotClustered, Value: file.Path}.Err()
	}
	log, err := raftfile.ReadLog(ctx, s.Files.Paths, d)
	if err != nil {
		return "", err
	}
	x.Cluster, x.Server, x.Term, x.Index, x.Source = file.Cluster, file.Server, log.Term, log.End-1, FromFile
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if state, err := s.Dialer.Server(asking, d, "unix:"+s.Files.Paths.Socket(d)); err == nil && state.Connected {
		x.Source, x.Index = Served, state.Index
	} else if log.Damage != "" {
		return "", finding.Reason{Code: finding.DamagedUnserved, Name: d.Short(), Value: log.Damage}.Err()
	}
	return log.Damage, nil
}

// tidy removes unfinished backups. The caller holds the lock, so no backup is in progress.
func tidy(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, makingPrefix+"*"))
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("cannot remove an unfinished backup: %w", err)
	}
	return nil
}

// list returns the paths of the backups in dir, oldest first.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("cannot list the backups: %w", err)
	}
	var all []string
	for _, e := range entries { // ReadDir sorts by name
		if _, err := time.Parse(nameLayout, e.Name()); err == nil && e.IsDir() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, nil
}

// surplus returns the backups to remove, so that keep remain: the new or future one, whatever its name, since the
// clock may have been set back, and the newest others. It returns only backups, by name and content.
func surplus(dir string, keep int, made string) ([]string, error) {
	others, err := list(dir)
	if err != nil {
		return nil, err
	}
	others = slices.DeleteFunc(others, func(path string) bool { return path == made })
	var removed []string
	for _, path := range others[:max(0, len(others)-(keep-1))] {
		if _, err := Read(path); err == nil { // otherwise Take did not make it
			removed = append(removed, path)
		}
	}
	return removed, nil
}

func prune(dir string, keep int, made string) error {
	all, err := surplus(dir, keep, made)
	if err != nil {
		return err
	}
	for _, path := range all {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("cannot remove an old backup: %w", err)
		}
	}
	return nil
}

// lock locks a directory until unlock is called or the process ends.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
