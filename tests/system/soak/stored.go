package soak

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// stored are the rows that a new cluster must have: those in a majority of the old cluster's remaining copies.
type stored struct {
	cluster raft.ID
	at      time.Time
	rows    map[string]bool
}

// store reads the remaining units' files, without their servers, of each database that has no leader.
func (w *world) store(ctx context.Context, givenUp []*host) {
	for _, db := range lab.Databases {
		cluster := w.cluster(db)
		if w.look(ctx, db).leads {
			continue
		}
		var copies []map[string]bool
		for _, h := range w.inModel() {
			if slices.Contains(givenUp, h) {
				continue
			}
			rows, err := w.fileRows(ctx, h, db, cluster)
			if err != nil {
				w.say("the copy of %s of %s can't be read: %v", db, h.Name(), err)
				copies = nil
				break
			}
			if rows != nil {
				copies = append(copies, rows)
			}
		}
		if len(copies) == 0 {
			continue
		}
		now := &stored{cluster, time.Now(), inMajority(copies)}
		w.mu.Lock()
		if w.stored == nil {
			w.stored = map[lab.DB]*stored{}
		}
		if before := w.stored[db]; before != nil && before.cluster == cluster && w.history[db].lastServed(cluster).Before(before.at) {
			now.rows = inMajority([]map[string]bool{now.rows, before.rows}) // whichever run it is that comes about
		}
		w.stored[db] = now
		w.mu.Unlock()
		w.say("%s: a majority of %d copies that are left has %d rows", db, len(copies), len(now.rows))
	}
}

func inMajority(copies []map[string]bool) map[string]bool {
	count, all := map[string]int{}, map[string]bool{}
	for _, rows := range copies {
		for name := range rows {
			if count[name]++; count[name] > len(copies)/2 {
				all[name] = true
			}
		}
	}
	return all
}

// fileRows returns the writer's rows in a unit's file; nil if it has none of that cluster.
func (w *world) fileRows(ctx context.Context, h *host, db lab.DB, cluster raft.ID) (map[string]bool, error) {
	id, err := w.Exec(ctx, "ovsdb-tool", "db-cid", h.DBFile(db))
	if err != nil || raft.ID(id[:min(len(id), 36)]) != cluster {
		return nil, nil //nolint:nilerr // there is no file, or its server has not joined yet
	}
	return h.Stored(ctx, db)
}

// kept returns which required row a unit of a new cluster lacks, and forgets the rows: the next disaster has others.
func (w *world) kept(ctx context.Context) string {
	w.mu.Lock()
	all := w.stored
	w.stored = nil
	w.mu.Unlock()
	for _, db := range lab.Databases {
		s := all[db]
		if s == nil || w.cluster(db) == s.cluster {
			continue
		}
		w.mu.Lock()
		w.counts.New++
		again := w.history[db].lastServed(s.cluster).After(s.at)
		w.mu.Unlock()
		if again { // its majority came back, and may have taken back what it had not committed
			w.say("%s: the old cluster was served again after the copies were looked at", db)
			continue
		}
		for _, h := range w.inModel() {
			now, err := w.Copy(ctx, h.Unit, db)
			if err != nil {
				return fmt.Sprintf("%s of %s can't be read in the end: %v", db, h.Name(), err)
			}
			for name := range s.rows {
				if !now[name] {
					return fmt.Sprintf("%s of %s lacks %s, which a majority of the copies had that were left of cluster %s", db, h.Name(), name, s.cluster)
				}
			}
		}
		w.counted(func(c *Counts) { c.Kept += len(s.rows) })
	}
	return ""
}

// backUp takes a backup, and records the rows that the unit's servers had before.
func (w *world) backUp(ctx context.Context, h *host) error {
	behind := map[lab.DB]map[string]bool{}
	for _, db := range lab.Databases {
		rows, err := w.Copy(ctx, h.Unit, db)
		if err != nil && !h.Running(db) { // then the backup is of the file
			rows, err = w.fileRows(ctx, h, db, w.cluster(db))
		}
		if err != nil {
			return fmt.Errorf("cannot read %s of %s: %w", db, h.Name(), err)
		}
		behind[db] = rows
	}
	r, err := w.RunAction(ctx, h.Unit, "backup")
	if w.say("%s backup: %s %v %s", h.Name(), r.Status, r.Results, r.Message); r.Results["backup"] != "" {
		w.backup, w.behind = r.Results["backup"], behind
	}
	return err
}

// storeBackup requires the rows of the backup of the new clusters.
func (w *world) storeBackup() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored = map[lab.DB]*stored{}
	for _, db := range lab.Databases {
		rows := map[string]bool{}
		for name := range w.behind[db] {
			if lab.Written.MatchString(name) {
				rows[name] = true
			}
		}
		w.stored[db] = &stored{w.cluster(db), time.Now().Add(time.Hour), rows} // whatever is served meanwhile
	}
}
