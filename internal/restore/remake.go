package restore

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Stop stops the server of a database for the request of a unit, and ovn-northd, which would take a new cluster for one
// with old data. The server stays masked, so that a reboot does not start it. A server whose file lacks entries first
// rewrites it: no other one may have them.
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
		return u.Files.Change(ctx, path, newMark(u.Env.Unit, request, u.Now()).transaction(db, superseded))
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

// MayReplace returns an error if a unit's new cluster must not replace the old one now: the old one has a quorum again,
// or the unit's machine doesn't answer.
func (u *Unit) MayReplace(
	ctx context.Context, snapshot observe.Snapshot, s plan.State, db ovndb.Database, unit string,
) error {
	old := s.Clusters.IDs[db]
	if served := u.askServers(ctx, snapshot, db, []raft.ID{old}).connected; len(served) > 0 {
		return fmt.Errorf("the cluster has a quorum again: %s", first(served))
	}
	for _, peer := range s.Peers {
		if peer.Unit == unit && !reached(ctx, peer.Address, db) {
			return fmt.Errorf("the machine of %s, which has the new cluster, does not answer", unit)
		}
	}
	return nil
}
