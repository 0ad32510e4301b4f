// Package restore carries out what an operator requests if a database is lost: recoveries and restores, new servers in
// place of those that can't be started, and the proofs that they serve. Package recovery decides.
package restore

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Kept is what is remembered of recoveries, restores and joins in their place.
type Kept struct {
	// Attempts are the last recovery or restore of each database that this unit was asked for. Held is the unit for
	// whose request a server was stopped.
	Attempts map[ovndb.Database]recovery.Attempt `json:"attempts,omitempty"`
	Held     map[ovndb.Database]string           `json:"held-for,omitempty"`
	// Restored are the backups that were restored.
	Restored map[ovndb.Database][]restored `json:"restored,omitempty"`
	// Rejoin are the servers that other units are asked to remove.
	Rejoin map[ovndb.Database]raft.ID `json:"rejoin,omitempty"`
	// Rejoined are those in whose place new ones have joined: the same action, run again,
	// proves that they serve.
	Rejoined map[ovndb.Database]raft.ID `json:"rejoined,omitempty"`
}

// restored is a backup that was restored, and when that was asked for.
type restored struct {
	Backup string    `json:"backup"`
	At     time.Time `json:"at"`
}

// Note notes how far this unit's recovery of a database is.
func (k *Kept) Note(db ovndb.Database, a recovery.Attempt) {
	if k.Attempts == nil {
		k.Attempts = map[ovndb.Database]recovery.Attempt{}
	}
	if k.Attempts[db] = a; a.Stage == recovery.Idle {
		delete(k.Attempts, db)
	}
}

// Request returns this unit's request for a database, and whether it is pending.
func (k *Kept) Request(db ovndb.Database) (request recovery.Request, is bool) {
	a := k.Attempts[db]
	return a.Request, a.Pending()
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

// See ends the requests whose cluster was replaced, and remembers what came of them.
func (k *Kept) See(c relation.Clusters) {
	for db, a := range k.Attempts {
		after := a.Seen(c.IDs[db])
		if q := after.Request; a.Pending() && after.Stage == recovery.Placed && q.Backup != "" {
			k.noteRestored(db, q)
		}
		k.Note(db, after)
	}
}

// maxRestored is how many restores of a database are remembered.
const maxRestored = 20

// noteRestored remembers that a backup was restored, so that the same command does not do it once more.
func (k *Kept) noteRestored(db ovndb.Database, q recovery.Request) {
	if k.Restored == nil {
		k.Restored = map[ovndb.Database][]restored{}
	}
	all := slices.DeleteFunc(k.Restored[db], func(x restored) bool { return x.Backup == q.Backup })
	all = append(all, restored{q.Backup, q.Asked})
	k.Restored[db] = all[max(0, len(all)-maxRestored):]
}

// Databases are those of a request; if it names none, those without a leader and those that the same request has made.
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

// Answered are this unit's requests as published to its peers.
func (k *Kept) Answered(states map[ovndb.Database]recovery.State) map[ovndb.Database]recovery.Request {
	all := map[ovndb.Database]recovery.Request{}
	for db := range k.Attempts {
		if request, is := k.Request(db); is {
			all[db] = states[db].Answer(request)
		}
	}
	return all
}

// joinedAnew remembers that this unit's server is a member again: in the place of the one that
// was to be removed, unless that one could be started after all.
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

// gaveUp reports whether a request that has come about gives up what is named. An identity belongs to no member
// once its cluster was given up, and the command that names it continues with the other database.
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

// stage is how far what is asked for is, if the old cluster was replaced for it. A server that was started and knows no
// leader may have lost its quorum once more.
func (k *Kept) stage(request Request, state recovery.State, db ovndb.Database) recovery.Stage {
	return k.Attempts[db].Seen(state.Cluster).Led(state.Own == nil || state.Own.HasRaftLeader).Of(request.Backup)
}

// starts reports whether what is asked for has come about, and its new cluster may not have been started here yet.
func (k *Kept) starts(request Request, state recovery.State, db ovndb.Database) bool {
	stage := k.stage(request, state, db)
	return stage == recovery.Placed || stage == recovery.Served && state.Own == nil
}

// withoutRaftLeader are the databases whose server here knows no leader, or all.
func withoutRaftLeader(states map[ovndb.Database]recovery.State, all bool) (databases []ovndb.Database) {
	for _, db := range ovndb.Databases() {
		if s, known := states[db]; known && (all || s.Own != nil && !s.Own.HasRaftLeader) {
			databases = append(databases, db)
		}
	}
	return databases
}
