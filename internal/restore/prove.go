package restore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// proofKey with a unit's name behind it is the key in external_ids of NB_Global and SB_Global that proves that a new
// cluster serves: it is written, read and deleted.
const proofKey = "ovn-central:recovery-proof/"

const (
	// acknowledgement limits a write: it allows for some elections at the default timer.
	acknowledgement = 30 * time.Second
	// readBack is how long another server may lag behind an acknowledged write, readPoll the interval of reads.
	readBack = 10 * time.Second
	readPoll = 100 * time.Millisecond
)

// prove writes to the new cluster of each request, both at the same time, and reads the value back from every unit's
// server.
func (u *Unit) prove(
	ctx context.Context, s plan.State, requests map[ovndb.Database]recovery.Request,
) []recovery.Proof {
	databases := slices.Sorted(maps.Keys(requests))
	return observe.AtOnce(databases, func(db ovndb.Database) recovery.Proof {
		p := recovery.Proof{Database: db}
		u.proveOne(ctx, s, requests[db], &p)
		return p
	})
}

func (u *Unit) proveOne(ctx context.Context, s plan.State, request recovery.Request, p *recovery.Proof) {
	db := p.Database
	if x := s.Databases[db]; !x.MemberWithLeader() || x.Cluster != s.Clusters.IDs[db] {
		p.Unserved = true
		return
	}
	addresses := map[string]string{u.Env.Unit: s.Address}
	for _, peer := range s.Peers {
		if !peer.Dying {
			addresses[peer.Unit] = peer.Address
		}
	}
	p.Units = unitProofs(s.Databases[db].Status, db, addresses, request)
	key, value := proofKey+u.Env.Unit, rand.Text()
	defer func() {
		if err := u.dropProof(ctx, db, s.Address, key); err != nil {
			u.Log.WarnContext(ctx,
				"cannot delete the key that was written for the proof; the next recovery-status deletes it",
				"database", db.Short(), "key", key, "error", err)
		}
	}()
	if err := u.writeProof(ctx, db, s.Address, key, value); err != nil {
		p.Failure = err.Error()
		return
	}
	p.Units = observe.AtOnce(p.Units, func(unit recovery.UnitProof) recovery.UnitProof {
		if unit.Member {
			if err := u.readProof(ctx, db, addresses[unit.Unit], key, value); err != nil {
				unit.Failure = err.Error()
			}
		}
		return unit
	})
}

// unitProofs returns the units in order, before anything is read from their servers.
func unitProofs(
	status raft.Status, db ovndb.Database, addresses map[string]string, request recovery.Request,
) (all []recovery.UnitProof) {
	for unit, address := range addresses {
		at := ovndb.RaftAddress(db, address)
		all = append(all, recovery.UnitProof{
			Unit: unit, GivenUp: slices.Contains(request.GivenUp, unit),
			Member: address != "" && slices.ContainsFunc(status.Servers,
				func(row raft.Member) bool { return row.Address == at }),
		})
	}
	slices.SortFunc(all, func(a, b recovery.UnitProof) int { return unitname.Compare(a.Unit, b.Unit) })
	return all
}

// writeProof returns once a majority has stored it.
func (u *Unit) writeProof(ctx context.Context, db ovndb.Database, address, key, value string) error {
	ctx, cancel := context.WithTimeout(ctx, acknowledgement)
	defer cancel()
	return u.onGlobal(ctx, db, address, func(g *ovsdb.Global, ids map[string]string) error {
		swapped, err := g.Swap(ctx, key, ids[key], value)
		if err == nil && !swapped {
			err = fmt.Errorf("another process writes %s", key)
		}
		return err
	})
}

// readProof reads from one server, whether or not it leads.
func (u *Unit) readProof(ctx context.Context, db ovndb.Database, address, key, value string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readBack, fmt.Errorf("not seen within %s", readBack))
	defer cancel()
	err := poll.Until(ctx, readPoll, func() error {
		return u.onGlobal(ctx, db, address, func(_ *ovsdb.Global, ids map[string]string) error {
			if ids[key] != value {
				return errors.New("it is not there yet")
			}
			return nil
		})
	})
	if err != nil {
		err = context.Cause(ctx) // not the last read's error
	}
	return err
}

// dropProof removes the key, even if ctx has ended.
func (u *Unit) dropProof(ctx context.Context, db ovndb.Database, address, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acknowledgement)
	defer cancel()
	return u.onGlobal(ctx, db, address, func(g *ovsdb.Global, _ map[string]string) error { return g.Drop(ctx, key) })
}

func (u *Unit) onGlobal(
	ctx context.Context, db ovndb.Database, address string, do func(*ovsdb.Global, map[string]string) error,
) error {
	return u.Dialer.WithGlobal(ctx, db, ovsdb.Endpoints(db, ovndb.RaftAddress(db, address)), do)
}
