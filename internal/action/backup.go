package action

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/document"
)

// takeBackup copies both databases.
func takeBackup(ctx context.Context, u Unit, p params) (results, error) {
	dir, err := p.text("path")
	if err != nil {
		return nil, err
	}
	keep, err := p.count("keep", backup.DefaultKeep)
	if err != nil {
		return nil, err
	}
	dryRun, err := p.flag("dry-run")
	if err != nil {
		return nil, err
	}
	dir = cmp.Or(dir, u.Backup.Files.Paths.Backups)
	if dryRun {
		return planBackup(ctx, u, dir, keep)
	}
	path, manifest, err := u.Backup.Take(ctx, dir, keep)
	if err != nil {
		return nil, err
	}
	found := results{"backup": path, "taken": manifest.Taken.Format(time.RFC3339)}
	for _, x := range manifest.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("%d bytes from the %s of member %s, cluster %s, term %d, index %d, schema %s; loaded, and read back",
			x.Size, x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Schema)
	}
	warn(found, manifest.Databases)
	return found, nil
}

// planBackup says what a backup would copy and remove.
func planBackup(ctx context.Context, u Unit, dir string, keep int) (results, error) {
	p, err := u.Backup.Plan(ctx, dir, keep)
	if err != nil {
		return nil, err
	}
	found := results{}
	steps := []string{"copy both databases to a new directory in " + dir}
	for _, x := range p.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("from the %s of member %s, cluster %s, term %d, index %d; its file has %d bytes",
			x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Size)
	}
	warn(found, p.Databases)
	steps = append(steps, "load each copy, compress it and read it back")
	for _, path := range p.Removed {
		steps = append(steps, "remove "+path)
	}
	found["plan"] = lines(steps)
	return found, nil
}

// listBackups shows the backups on this machine.
func listBackups(_ context.Context, u Unit, p params) (results, error) {
	dir, err := p.text("path")
	if err != nil {
		return nil, err
	}
	format, err := p.text("format")
	if err != nil {
		return nil, err
	}
	if dir != "" && !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("parameter path is %q: it must be an absolute path", dir)
	}
	all, err := backup.List(cmp.Or(dir, u.Backup.Files.Paths.Backups))
	if err != nil {
		return nil, err
	}
	text, err := rendered(format, all, document.Backups)
	return results{"backups": text}, err
}

// withBackups adds the backups on this machine to the error about a backup that does not exist.
func (u Unit) withBackups(from string, err error) error {
	if _, missing := backup.Read(from); err == nil || !errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	all, failure := backup.List(u.Backup.Files.Paths.Backups)
	if failure != nil || len(all) == 0 {
		return fmt.Errorf("%w\nthere is no backup in %s", err, u.Backup.Files.Paths.Backups)
	}
	return fmt.Errorf("%w\nbackups on this machine, the newest first:\n%s", err, document.Backups(all[:min(len(all), shownBackups)]))
}

// shownBackups is how many backups an error lists.
const shownBackups = 10

// warn adds a line for each copy that is not of what is served.
func warn(found results, databases []backup.Database) {
	for _, x := range databases {
		if x.Source == backup.FromFile {
			found["warnings"] += lines([]string{x.Name.Short() + ": this unit's server serves nothing; the copy is of its file, and other units may have newer data"})
		}
	}
}

// count reads a number of 1 or more.
func (p params) count(key string, otherwise int) (int, error) {
	switch v := p[key].(type) {
	case nil:
		return otherwise, nil
	case json.Number:
		if n, err := v.Int64(); err == nil && n >= 1 && n <= 1<<20 {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("parameter %s is %v: it takes a number, 1 or more", key, p[key])
}
