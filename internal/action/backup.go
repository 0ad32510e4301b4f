package action

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// takeBackup copies both databases.
func takeBackup(ctx context.Context, u Unit, p *params) (results, error) {
	dir := cmp.Or(p.text("path"), u.Backup.Files.Paths.Backups)
	keep, dryRun := int(p.number("keep", backup.DefaultKeep, 1, 1<<20)), p.flag("dry-run")
	if err := p.err(); err != nil {
		return nil, err
	}
	if dryRun {
		return planBackup(ctx, u, dir, keep)
	}
	path, manifest, err := u.Backup.Take(ctx, dir, keep)
	if err != nil {
		return nil, err
	}
	found := results{"backup": path, "taken": manifest.Taken.Format(time.RFC3339)}
	for _, x := range manifest.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("%d bytes from the %s of member %s, cluster %s, term %d, index %d, "+
			"schema %s; loaded, and read back",
			x.Size, x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Schema)
	}
	warn(found, manifest.Databases)
	return found, nil
}

// planBackup shows what a backup would copy and remove.
func planBackup(ctx context.Context, u Unit, dir string, keep int) (results, error) {
	p, err := u.Backup.Plan(ctx, dir, keep)
	if err != nil {
		return nil, err
	}
	found := results{}
	for _, x := range p.Databases {
		found["ovn"+x.Name.Short()] = fmt.Sprintf("from the %s of member %s, cluster %s, term %d, index "+
			"%d; its file has %d bytes",
			x.Source, x.Server.Short(), x.Cluster, x.Term, x.Index, x.Size)
	}
	warn(found, p.Databases)
	steps := []string{
		"copy both databases to a new directory in " + dir, "load each copy, compress it and read it back",
	}
	for _, path := range p.Removed {
		steps = append(steps, "remove "+path)
	}
	found["plan"] = lines(steps)
	return found, nil
}

// listBackups shows the backups on this machine.
func listBackups(ctx context.Context, u Unit, p *params) (results, error) {
	dir := p.text("path")
	if dir != "" && !filepath.IsAbs(dir) {
		p.refuse("path", "it takes an absolute path")
	} else if _, err := os.Stat(dir); dir != "" && err != nil {
		p.refuse("path", "cannot read it: "+err.Error())
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	dir = cmp.Or(dir, u.Backup.Files.Paths.Backups)
	all, err := u.Backup.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	text, err := rendered(p.format, all, func(all []backup.Listed) string {
		return document.Backups(dir, all, u.Backup.Now())
	})
	return results{"backups": text}, err
}

// noBackup refuses a restore from a path that is not a backup, and names the backup with the most similar path.
func (u Unit) noBackup(ctx context.Context, p *params, from string) error {
	all, err := u.Backup.List(ctx, u.Backup.Files.Paths.Backups)
	if err != nil {
		return err
	}
	nearest := backup.Nearest(all, from)
	if nearest == "" {
		return p.invalid("from",
			"it takes the absolute path of a backup on this machine; none is in "+u.Backup.Files.Paths.Backups)
	}
	restore := command.Command{
		Unit: u.Env.Unit, Action: "restore",
		Params: []command.Param{{Key: "from", Value: nearest}, {Key: "dry-run", Value: "true"}},
	}
	return p.invalid("from", "it takes the absolute path of a backup on this machine; the nearest is "+nearest,
		finding.Do(restore), finding.If(finding.ToSeeBackups, command.Command{Unit: u.Env.Unit, Action: "backups"}))
}

// warn adds a line for each copy of a file without a server.
func warn(found results, databases []backup.Database) {
	for _, x := range databases {
		if x.Source == backup.FromFile {
			found["warnings"] += lines([]string{x.Name.Short() +
				": this unit's server serves nothing; the copy is of its file, and other units may have newer data"})
		}
	}
}
