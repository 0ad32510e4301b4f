package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/backup"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// standalone returns the path of a new cluster's contents, which exist until it is made.
func (u *Unit) standalone(db ovndb.Database) string { return u.Files.Paths.File(db) + ".standalone" }

// PutAwayStaged puts away the files of new clusters beside the databases' files, except the clusters in but, and
// removes the contents of clusters that were not made. A withdrawn recovery leaves its new cluster behind, which
// another application would take for its own.
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
			u.Log.InfoContext(ctx, "the unused file of a new cluster was put away",
				"database", db.Short(), "path", path)
		}
	}
	return failures
}

// trials is the directory in which contents of new clusters are tried. It is not the databases' directory: a server
// that still serves must not run out of space.
const trials = "/var/tmp"

// refuseContents returns why no new clusters could be made for these requests, before any unit has stopped its
// server. It writes the contents to another directory, loads and removes them. [Unit.contents] checks again once the
// servers are off.
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
			continue // the cluster is already made
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

// unusable returns the finding that no new cluster can be made of the data.
func unusable(why error, databases ...ovndb.Database) finding.Finding {
	line, _, _ := strings.Cut(why.Error(), "\n")
	return finding.New(finding.RecoveryDataUnusable, finding.Subject{Databases: databases}, finding.Args{Value: line})
}

// tryContents returns why no new cluster could be made of contents of that size, in bytes. It writes them to the file
// to, and loads them. If there is no room for them, it only reads a backup, and takes the schema from its manifest.
func (u *Unit) tryContents(
	ctx context.Context, request recovery.Request, db ovndb.Database, size int64, to string,
) error {
	if err := room(u.Files.Paths.DB, size); err != nil {
		return err
	}
	if room(filepath.Dir(to), size) == nil {
		load := func(ctx context.Context, path string) (string, error) { return u.Files.Load(ctx, db, path) }
		return errors.Join(u.contents(ctx, request, db, to, load), remove(to))
	}
	u.Log.InfoContext(ctx, "no room to load the new cluster's contents before the servers stop",
		"database", db.Short(), "directory", trials)
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

// contents writes the contents of a new cluster to a file, and checks that a server of these packages can start on it.
// load loads the file once, as a server does, and returns the version of its schema. 300 MiB take half a minute, and
// longer on a busy machine.
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
		err = u.Files.Extract(ctx, db, to)
	} else {
		var m backup.Manifest
		if m, err = backup.Read(request.Backup); err == nil {
			err = backup.Unpack(ctx, request.Backup, m, db, to)
		}
	}
	if err != nil {
		return err
	}
	schema, err := load(ctx, to)
	if err != nil {
		return err
	}
	return u.schemaFits(db, schema)
}

// schemaFits returns why a server of these packages could not serve a database with that schema.
func (u *Unit) schemaFits(db ovndb.Database, schema string) error {
	brought, err := u.Files.SchemaVersion(db)
	if err != nil {
		return err
	}
	newer, err := ovsctl.Newer(schema, brought)
	if newer {
		err = finding.Reason{Code: finding.SchemaTooNew, Value: schema, Name: brought}.Err()
	}
	return err
}

// contentsSize estimates the size of a new cluster's contents, in bytes.
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

// room returns why a directory lacks space for new clusters with contents of these sizes, in bytes.
func room(dir string, sizes ...int64) error {
	free, err := machine.FreeSpace(dir)
	if err != nil {
		return err
	}
	return checkSpace(dir, free, sizes...)
}

// checkSpace returns why free, in bytes, is too little. Each new cluster is kept beside the existing file; one at a
// time is also beside its contents.
func checkSpace(dir string, free int64, sizes ...int64) error {
	if need := machine.CopySpace(sizes...) + spareSpace; free < need {
		return finding.Reason{
			Code: finding.SpaceLacking, Value: dir, Count: int(free >> 20), Total: int(need >> 20),
		}.Err()
	}
	return nil
}

// spareSpace is the space, in bytes, that must remain free.
const spareSpace = 16 << 20

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove the contents of a new cluster: %w", err)
	}
	return nil
}

// Stop stops the server of a database for the request of a unit. It also stops ovn-northd, which would mistake a new
// cluster for one with old data. The server stays masked, so that a reboot does not start it. A server whose file
// lacks entries first rewrites the file: no other server may have them.
func (u *Unit) Stop(ctx context.Context, db ovndb.Database, unit string) error {
	if err := u.Members.RewriteFile(ctx, db); err != nil {
		return err
	}
	service := ovndb.ServiceOf(db)
	if err := u.Services.Stop(ctx, ovndb.Northd, service); err != nil {
		return err
	}
	if err := u.Services.Mask(ctx, service); err != nil {
		return err
	}
	if u.Held == nil {
		u.Held = map[ovndb.Database]string{}
	}
	u.Held[db] = unit
	return u.Save()
}

// Remake creates the new cluster, which replaces the superseded ones, beside the old cluster's file, and records its
// ID.
func (u *Unit) Remake(
	ctx context.Context, db ovndb.Database, address string, timer time.Duration, superseded []raft.ID,
) error {
	request := u.Attempts[db].Request
	contents := u.standalone(db)
	defer os.Remove(contents)
	mark := func(ctx context.Context, path string) (string, error) {
		return u.Files.Change(ctx, path, markTransaction(newMark(u.Env.Unit, request, u.Now()), db, superseded))
	}
	var err error
	u.telling(ctx, db.Short()+": loading the data of the new cluster", func() {
		err = u.contents(ctx, request, db, contents, mark)
	})
	switch {
	case err != nil && (ctx.Err() != nil || run.Terminated(err)):
		return err // the hook was ended, and the data may be good: the next hook tries again
	case err != nil:
		u.Note(db, u.Attempts[db].Withdraws(unusable(err, db)))
		return err
	}
	made, err := u.Files.StageFrom(ctx, db, address, max(timer, time.Second), contents)
	if err != nil {
		return err
	}
	u.Note(db, u.Attempts[db].Makes(made.Cluster))
	return u.Save()
}

// MayReplace returns an error if a unit's new cluster must not replace the old one now, because the old one has a
// quorum again or the unit's machine doesn't answer.
func (u *Unit) MayReplace(
	ctx context.Context, snapshot observe.Snapshot, s plan.State, db ovndb.Database, unit string,
) error {
	old := s.Clusters.IDs[db]
	if served := u.askServers(ctx, snapshot, db, []raft.ID{old}).connected; len(served) > 0 {
		return finding.Reason{Code: finding.QuorumAgain, Value: first(served)}.Err()
	}
	for _, peer := range s.Peers {
		if peer.Unit == unit && !reached(ctx, peer.Address, db) {
			return finding.Reason{Code: finding.MachineSilent, Name: unit}.Err()
		}
	}
	return nil
}
