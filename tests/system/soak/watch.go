package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// disasters is the additional state of a world that has disasters.
type disasters struct {
	history map[lab.DB]*history
	// watched ends the watching, and waits for its end; background are machines that boot.
	watched    func()
	background sync.WaitGroup
	// order is the command that the operator types next in this disaster.
	order *order
	// backup is the newest one's directory, and behind what its unit had before it.
	backup string
	behind map[lab.DB]map[string]bool
	stored map[lab.DB]*stored
}

// besideLimit bounds the time of two served clusters, until a returned unit's hooks have stopped its servers.
const besideLimit = 90 * time.Second

// lookPause separates two looks: each runs a program for each server.
const lookPause = time.Second

// watch looks at all servers repeatedly, until unwatch.
func (w *world) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	w.history = map[lab.DB]*history{}
	began := map[string]time.Time{}
	for _, db := range lab.Databases {
		w.history[db] = &history{answer: patience(5 * time.Second)}
	}
	look := func() {
		for _, db := range lab.Databases {
			s := w.sight(ctx, db, began)
			w.mu.Lock()
			before := len(w.history[db].seen())
			w.history[db].add(s)
			seen := w.history[db].seen()
			w.mu.Unlock()
			if len(seen) > before {
				w.say("%s: two clusters are served: %s", db, seen[len(seen)-1])
			}
		}
	}
	look()
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			look()
			_ = poll.Wait(ctx, lookPause)
		}
	})
	w.watched = func() { cancel(); group.Wait() }
}

func (w *world) unwatch() {
	w.background.Wait()
	if w.watched != nil {
		w.watched()
	}
}

// sight asks all servers of a database; began is when each process was seen first.
func (w *world) sight(ctx context.Context, db lab.DB, began map[string]time.Time) sighting {
	s, now, since := sighting{current: w.cluster(db)}, time.Now(), map[*host]time.Time{}
	for _, h := range w.inModel() {
		if pid, err := h.ServerPID(db); err == nil {
			process := fmt.Sprintf("%s %s %d", h.Name(), db, pid)
			if began[process].IsZero() {
				began[process] = now
			}
			since[h] = began[process]
		}
	}
	askAll(ctx, db, slices.Collect(maps.Keys(since)), func(h *host, status raft.Status, err error) {
		if err == nil && status.Cluster != "" {
			s.servers = append(s.servers, server{h.Name(), since[h], status, status.Cluster})
		}
	})
	s.at = time.Now()
	return s
}

// besideBroken returns a time in which two clusters were served without an excuse.
func (w *world) besideBroken(context.Context) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, db := range lab.Databases {
		if h := w.history[db]; h != nil {
			if what := h.broken(patience(besideLimit)); what != "" {
				return string(db) + ": " + what
			}
		}
	}
	return ""
}

// lostWrites ends the writer, and returns the acknowledged writes that are missing without an excuse.
func (w *world) lostWrites(ctx context.Context) string {
	w.writer.Stop()
	all, err := w.writer.Verify(ctx)
	if err != nil {
		return err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for db, writes := range all {
		var lost []string
		for _, n := range writes.Missing {
			row, at := w.writer.Acknowledgement(db, n)
			if h := w.history[db]; h != nil && h.excuses(at, w.cluster(db)) {
				w.counts.Given++
				continue
			}
			lost = append(lost, fmt.Sprintf("%s at %s", row, at.Format(time.TimeOnly)))
		}
		if len(lost) > 0 {
			return fmt.Sprintf("%s: %d of %d acknowledged writes are lost: %v", db, len(lost), writes.Acknowledged, lost)
		}
	}
	return ""
}
