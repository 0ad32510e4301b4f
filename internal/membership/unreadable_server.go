package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// haltOperation stops an unreadable server of a unit that is being removed. The server may vote, and can't be told to
// leave, so it stays a member that is down. The others must be a majority without it.
type haltOperation struct {
	changer     *Changer
	application observe.Application
	cache       observe.Cache
	// server has the File that evaluate has read: an unreadable server is observed without it.
	server observe.ServerState
	end    raftfile.End
	lock   *lock
	// begun reports whether stopping the server was permitted, done whether its process is gone.
	begun, done bool
}

// haltUnreadable stops the unreadable servers of this unit, if it has no serving one: that one must leave, which must
// be permitted first. The error is a [*finding.RefusedError] if nothing was changed.
func (s *Changer) haltUnreadable(ctx context.Context, m observe.Application, cache observe.Cache,
	servers map[ovndb.Database]observe.ServerState,
) error {
	var halts []*haltOperation
	for _, d := range ovndb.Databases() {
		switch l := servers[d]; l.Condition {
		case ovndb.Unreadable:
			halts = append(halts, &haltOperation{changer: s, application: m, cache: cache, server: l})
		case ovndb.Serving:
			return s.refuseUnreadable(m, servers)
		}
	}
	judge := func(ctx context.Context) error {
		for _, h := range halts {
			if err := h.evaluate(ctx); err != nil {
				s.Log.InfoContext(ctx, "not stopping a server that can't be asked", "database", h.server.Database.Short(), "error",
					err)
				return s.refuseUnreadable(m, servers)
			}
		}
		return nil
	}
	return change[*haltOperation]{operations: halts, judge: judge, begin: s.BeforeLeaving, ends: always}.carryOut(ctx)
}

// evaluate returns an error unless the others are a majority without this server. The members are those in its file,
// which it extends while it runs. Under the lock, an unfinished change of another unit and a damaged file of another
// member are errors, too.
func (h *haltOperation) evaluate(ctx context.Context) (err error) {
	if h.server.File, err = h.changer.Files.Inspect(ctx, h.server.Database); err != nil {
		return err
	}
	if h.end, err = raftfile.ReadEnd(ctx, h.changer.Files.Paths, h.server.Database); err != nil {
		return err
	}
	if _, member := h.end.Addresses[h.server.File.Server]; !member || h.end.Damage != "" {
		return errors.New("its file does not list the members")
	}
	without, removed := h.changer.Observer.QuorumWithout(ctx, h.application, h.cache, h.server, h.end)
	if !removed && !without.Holds() {
		return fmt.Errorf("the others are no majority without it: %s", without)
	}
	if h.lock == nil {
		return nil
	}
	ids, _, record, err := h.lock.read(ctx)
	if err != nil {
		return err
	}
	for _, begun := range record.Intents {
		if begun.ID != string(h.server.File.Server) || begun.By != h.changer.Env.Unit {
			return fmt.Errorf("%s has begun to change the membership: %s of %s", begun.By, begun.Kind, begun.ID)
		}
	}
	if lost := h.damaged(ids); len(lost) > 0 {
		return fmt.Errorf("the file of another member is damaged: %v", lost)
	}
	return nil
}

// damaged returns the members that have lost entries according to ids, the external_ids of the database. They are in
// this server's file, or may have joined since. Records of removed members don't count: only their own unit drops
// these.
func (h *haltOperation) damaged(ids map[string]string) []raft.ID {
	removed := observe.RemovedServers(ids)
	return slices.DeleteFunc(observe.DamagedServers(ids), func(id raft.ID) bool {
		_, member := h.end.Addresses[id]
		for _, published := range h.application.Published {
			member = member || published[h.server.Database].Server == id
		}
		return !member || removed[id] != ""
	})
}

func (h *haltOperation) needsLock() bool { return true }

func (h *haltOperation) takeLock(ctx context.Context) error {
	s, db := h.changer, h.server.Database
	var others []string
	for id, address := range h.end.Addresses {
		if id != h.server.File.Server {
			others = append(others, ovsdb.Endpoints(db, address)...)
		}
	}
	k := &lock{changer: s, database: db, others: others, server: h.server.File.Server}
	if err := k.takeThrough(ctx, others, raft.Status{}, s.abortIfTearingDown(h.application)); err != nil {
		return err
	}
	h.lock = k
	return nil
}

// haltPatience is how long a process may take to end once systemd has stopped its service.
const haltPatience = 10 * time.Second

func (h *haltOperation) act(ctx context.Context) error {
	s, db := h.changer, h.server.Database
	limited, cancel, err := h.lock.recordIntent(ctx, lease.Down, string(h.server.File.Server))
	if err != nil {
		return err
	}
	defer cancel()
	if err := h.evaluate(limited); err != nil {
		return finding.Refuse([]finding.Finding{finding.Of(finding.ServerUnreadable, db, finding.Args{Detail: err.Error()})},
			leaveBehind(h.application))
	}
	if _, err := h.lock.mayAct(); err != nil {
		return err
	}
	h.begun = true
	s.Progress(ctx, db.Short()+": the server can't be asked, and the others are a majority without it; stopping it")
	if err := s.Services.Stop(ctx, ovndb.ServiceOf(db)); err != nil {
		return err
	}
	var l observe.ServerState
	h.done = poll.Await(ctx, haltPatience, observe.PollInterval, nil, func() bool {
		l = s.Observer.ObserveServer(ctx, db)
		return l.Condition != ovndb.Unreadable && l.Condition != ovndb.Serving
	})
	if !h.done {
		return &PendingError{db, "its service was stopped, and its process was not seen to end: " + l.Text()}
	}
	return nil
}

func (h *haltOperation) release(ctx context.Context) { h.lock.releaseDown(ctx, h.done || !h.begun) }
