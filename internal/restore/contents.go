package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// standalone returns the path of the contents of a new cluster, until it is made.
func (u *Unit) standalone(db ovndb.Database) string { return u.Files.Paths.File(db) + ".standalone" }

// PutAwayStaged puts away the files of new clusters beside the databases' files, but those of the clusters
// in but, and removes the contents that new clusters were to be made of. A recovery that was withdrawn
// leaves its new cluster behind, with all data: another application would take it for one that it has made.
func (u *Unit) PutAwayStaged(ctx context.Context, but map[ovndb.Database]raft.ID) (failures error) {
	for _, db := range ovndb.Databases() {
		failures = errors.Join(failures, remove(u.standalone(db)))
		staged, err := u.Files.Staged(ctx, db)
		if err == nil && (!staged.Exists || staged.Cluster != "" && staged.Cluster == but[db]) {
			continue
		}
		if ctx.Err() != nil {
			return errors.Join(failures, ctx.Err())
		}
		path, err := u.Files.ArchiveStaged(db, u.Now())
		if failures = errors.Join(failures, err); err == nil {
			u.Log.InfoContext(ctx, "a new cluster's file that was not put into its place was put away",
				"database", db.Short(), "path", path)
		}
	}
	return failures
}

// trials is where what new clusters are to be made of is tried: a disk, and not the folder of the databases,
// whose servers may be serving.
const trials = "/var/tmp"

// refuseContents returns why no new clusters could be made for these requests, before any unit
// has stopped a server for them: what they are made of is written elsewhere, loaded, and removed. It
// takes as long as [Unit.contents] does, which looks again once the servers are off.
func (u *Unit) refuseContents(
	ctx context.Context, asked map[ovndb.Database]recovery.Request,
) (refusals []finding.Finding) {
	dir, err := os.MkdirTemp(trials, "ovn-central-contents-")
	if err != nil {
		return []finding.Finding{unusable(err)}
	}
	defer os.RemoveAll(dir)
	var sizes []int64
	for db, q := range asked {
		if q.New != "" {
			continue // it is made
		}
		size, err := u.contentsSize(q, db)
		if err == nil {
			sizes = append(sizes, size)
			err = u.tryContents(ctx, q, db, size, filepath.Join(dir, db.Short()))
		}
		if err != nil {
			refusals = append(refusals, unusable(err, db))
		}
	}
	if len(refusals) == 0 && len(sizes) > 1 {
		if err := room(u.Files.Paths.DB, sizes...); err != nil {
			return []finding.Finding{unusable(err, ovndb.Databases()...)}
		}
	}
	return refusals
}

// unusable is the finding that no new cluster can be made of the data.
func unusable(why error, databases ...ovndb.Database) finding.Finding {
	line, _, _ := strings.Cut(why.Error(), "\n")
	return finding.New(finding.RecoveryDataUnusable, finding.Subject{Databases: databases}, finding.Args{Value: line})
}

// tryContents returns why no new cluster could be made of contents of that size, which it writes to the file to
// and loads. If the disk has no room for them there, it only reads a backup, and trusts its manifest for the
// schema.
func (u *Unit) tryContents(
	ctx context.Context, request recovery.Request, db ovndb.Database, size int64, to string,
) error {
	if err := room(u.Files.Paths.DB, size); err != nil {
		return err
	}
	if room(filepath.Dir(to), size) == nil {
		return errors.Join(u.contents(ctx, request, db, to, u.load(db)), remove(to))
	}
	u.Log.InfoContext(ctx, "what the new cluster is to be made of is not loaded before the servers stop: no room",
		"database", db.Short(), "folder", trials)
	if request.Backup == "" {
		return nil
	}
	m, err := backup.Read(request.Backup)
	if err == nil {
		err = backup.Unpack(ctx, request.Backup, m, db, "")
	}
	if err != nil {
		return err
	}
	x, err := m.Of(db)
	if err != nil {
		return err
	}
	return u.schemaFits(db, x.Schema)
}

// load is what reads the contents of a new cluster as a server does, and says which version their
// schema has.
func (u *Unit) load(db ovndb.Database) func(ctx context.Context, path string) (schema string, err error) {
	return func(ctx context.Context, path string) (string, error) { return u.Files.Load(ctx, db, path) }
}

// contents writes what the new cluster is made of to a file, and sees that a server of
// these packages can be started on it. A program loads it once, by what is given: that takes
// half a minute for 300 MiB, and several times as long on a busy machine.
func (u *Unit) contents(
	ctx context.Context, request recovery.Request, db ovndb.Database, to string,
	load func(ctx context.Context, path string) (schema string, err error),
) error {
	size, err := u.contentsSize(request, db)
	if err != nil {
		return err
	}
	if err := room(filepath.Dir(to), size); err != nil {
		return err
	}
	if request.Backup == "" {
		if err := u.Files.Extract(ctx, db, to); err != nil {
			return err
		}
	} else {
		m, err := backup.Read(request.Backup)
		if err != nil {
			return err
		}
		if err := backup.Unpack(ctx, request.Backup, m, db, to); err != nil {
			return err
		}
	}
	schema, err := load(ctx, to)
	if err != nil {
		return err
	}
	return u.schemaFits(db, schema)
}

// schemaFits returns why a server of these packages could not serve a database of that schema.
func (u *Unit) schemaFits(db ovndb.Database, schema string) error {
	brought, err := u.Files.SchemaVersion(db)
	if err != nil {
		return err
	}
	newer, err := ovsctl.Newer(schema, brought)
	if newer {
		err = fmt.Errorf("its schema is %s, newer than that of this unit's packages, %s; "+
			"upgrade them first, or run it on a unit that has them", schema, brought)
	}
	return err
}

// contentsSize is about that of what a new cluster is made of, in bytes.
func (u *Unit) contentsSize(request recovery.Request, db ovndb.Database) (int64, error) {
	if request.Backup == "" {
		return raftfile.Size(u.Files.Paths.File(db)), nil
	}
	m, err := backup.Read(request.Backup)
	if err != nil {
		return 0, err
	}
	x, err := m.Of(db)
	return x.Size, err
}

// room returns why there is not enough space in a folder for new clusters of contents of these sizes.
func room(dir string, sizes ...int64) error {
	free, err := machine.FreeSpace(dir)
	if err != nil {
		return err
	}
	return checkSpace(dir, free, sizes...)
}

// checkSpace returns why so much free space, in bytes, is too little: each new cluster is
// kept beside the existing file, and one at a time beside the contents that it is made of.
func checkSpace(dir string, free int64, sizes ...int64) error {
	if need := machine.CopySpace(sizes...) + spareSpace; free < need {
		return fmt.Errorf("the disk of %s has %d MiB free, and it takes %d; make space", dir, free>>20, need>>20)
	}
	return nil
}

// spareSpace is what is left free, in bytes, beside the copies of the database.
const spareSpace = 16 << 20

// remove removes a file, if there is one.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove what a new cluster was to be made of: %w", err)
	}
	return nil
}
