// Package restore carries out an operator's recoveries and restores, replaces servers that can't be started, and proves
// that the new clusters and servers serve. Package recovery decides.
package restore

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Kept is the stored state of recoveries, restores and rejoins.
type Kept struct {
	// Attempts are the last recovery or restore of each database that was requested on this unit. Held are the units for
	// whose requests this unit's servers were stopped.
	Attempts map[ovndb.Database]recovery.Attempt `json:"attempts,omitempty"`
	Held     map[ovndb.Database]string           `json:"held-for,omitempty"`
	// Restored are the backups that were restored.
	Restored map[ovndb.Database][]restored `json:"restored,omitempty"`
	// Rejoin are the servers that other units are asked to remove.
	Rejoin map[ovndb.Database]raft.ID `json:"rejoin,omitempty"`
	// Rejoined are replaced servers. The same action, run again, proves that the new ones serve.
	Rejoined map[ovndb.Database]raft.ID `json:"rejoined,omitempty"`
}

// restored is a backup that was restored, and the time of the request.
type restored struct {
	Backup string    `json:"backup"`
	At     time.Time `json:"at"`
}

// Note records this unit's recovery of a database.
func (k *Kept) Note(db ovndb.Database, a recovery.Attempt) {
	if k.Attempts == nil {
		k.Attempts = map[ovndb.Database]recovery.Attempt{}
	}
	if k.Attempts[db] = a; a.Stage == recovery.Idle {
		delete(k.Attempts, db)
	}
}

// Request returns this unit's pending request for a database; nil if it has none.
func (k *Kept) Request(db ovndb.Database) *recovery.Request {
	if a := k.Attempts[db]; a.Pending() {
		return &a.Request
	}
	return nil
}

// Requested reports whether a request for any database is pending.
func (k *Kept) Requested() bool {
	for _, a := range k.Attempts {
		if a.Pending() {
			return true
		}
	}
	return false
}

// See ends the requests whose cluster was replaced, and records their outcome.
func (k *Kept) See(c relation.Clusters) {
	for db, a := range k.Attempts {
		after := a.Seen(c.IDs[db])
		if q := after.Request; a.Pending() && after.Stage == recovery.Placed && q.Backup != "" {
			k.noteRestored(db, q)
		}
		k.Note(db, after)
	}
}

const maxRestored = 20

// noteRestored records that a backup was restored, so that the same command does not restore it again.
func (k *Kept) noteRestored(db ovndb.Database, q recovery.Request) {
	if k.Restored == nil {
		k.Restored = map[ovndb.Database][]restored{}
	}
	all := slices.DeleteFunc(k.Restored[db], func(x restored) bool { return x.Backup == q.Backup })
	all = append(all, restored{q.Backup, q.Asked})
	k.Restored[db] = all[max(0, len(all)-maxRestored):]
}

// Databases returns the databases of a request. If it names none, they are those without a leader, and those whose
// cluster the same request has made.
func (k *Kept) Databases(request Request, states map[ovndb.Database]recovery.State) []ovndb.Database {
	if len(request.Databases) > 0 {
		return request.Databases
	}
	all := withoutRaftLeader(states, request.Backup != "")
	for _, db := range ovndb.Databases() {
		if k.stage(request, states[db], db) == recovery.Served && !slices.Contains(all, db) {
			all = append(all, db)
		}
	}
	return all
}

// Answered returns this unit's pending requests as they are published.
func (k *Kept) Answered(states map[ovndb.Database]recovery.State) map[ovndb.Database]recovery.Request {
	all := map[ovndb.Database]recovery.Request{}
	for db := range k.Attempts {
		if request := k.Request(db); request != nil {
			all[db] = states[db].Answer(*request)
		}
	}
	return all
}

// joinedAnew records that this unit's server is a member again. It has replaced the server that was to be removed,
// unless that one could be started after all.
func (k *Kept) joinedAnew(db ovndb.Database, server raft.ID) {
	old := k.Rejoin[db]
	delete(k.Rejoin, db)
	if old == "" || old.Short() == server.Short() {
		return
	}
	if k.Rejoined == nil {
		k.Rejoined = map[ovndb.Database]raft.ID{}
	}
	k.Rejoined[db] = old
}

// gaveUp reports whether a finished request gave up the name. An identity belongs to no member once its cluster was
// replaced, but the command that names it may continue with the other database.
func (k *Kept) gaveUp(name raft.IDArgument) bool {
	var peers []raft.Peer
	for _, a := range k.Attempts {
		if !a.Replaced() {
			continue
		}
		for _, given := range a.Request.GivenUp {
			if given == name.Text {
				return true
			}
			peers = append(peers, raft.Peer{ID: raft.ID(given)})
		}
	}
	found, _ := raft.Resolve(name, peers)
	return len(found.Peers) > 0
}

// stage returns the stage of a request for which the old cluster was replaced; otherwise [recovery.Idle]. A server that
// runs and knows no leader may have lost its quorum once more.
func (k *Kept) stage(request Request, state recovery.State, db ovndb.Database) recovery.Stage {
	return k.Attempts[db].Seen(state.Cluster).Led(state.Own == nil || state.Own.HasRaftLeader).Of(request.Backup)
}

// starts reports whether the request's new cluster is published, and may not have been started here yet.
func (k *Kept) starts(request Request, state recovery.State, db ovndb.Database) bool {
	stage := k.stage(request, state, db)
	return stage == recovery.Placed || stage == recovery.Served && state.Own == nil
}

// withoutRaftLeader returns the databases whose server here knows no leader; with all, every known database.
func withoutRaftLeader(states map[ovndb.Database]recovery.State, all bool) (databases []ovndb.Database) {
	for _, db := range ovndb.Databases() {
		if s, known := states[db]; known && (all || s.Own != nil && !s.Own.HasRaftLeader) {
			databases = append(databases, db)
		}
	}
	return databases
}
