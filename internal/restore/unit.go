// Package restore carries out an operator's recoveries and restores, replaces servers that can't be started, and
// proves that the new clusters and servers serve. Package recovery decides about them.
package restore

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Unit carries out recoveries and restores on a unit. It is used during one hook.
type Unit struct {
	*observe.Machine
	Members *membership.Changer
	State   *unitstate.State
	// Save writes the unit's state to the disk.
	Save func() error
	Kept
	// Judging makes [Unit.States] ask for all databases, even without a request.
	Judging bool
	// served are the answers of servers in this hook.
	served map[ovndb.Database]*answers
}

var section = unitstate.NewSection[Kept]("recovery")

// tellInterval is how often a long operation shows that it continues.
const tellInterval = 5 * time.Second

// telling shows the text to a person who waits, and repeats it while do runs: a large database takes minutes.
func (u *Unit) telling(ctx context.Context, text string, do func()) {
	u.Members.Progress(ctx, text)
	runs, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for poll.Wait(runs, tellInterval) == nil {
			u.Members.Progress(ctx, text)
		}
	})
	do()
	done()
	wg.Wait()
}

// Load reads the stored state. It drops withdrawals for reasons that this release does not know.
func (u *Unit) Load() *Unit {
	u.Kept = section.Get(u.State)
	maps.DeleteFunc(u.Attempts, func(_ ovndb.Database, a recovery.Attempt) bool {
		return a.Stage == recovery.Withdrawn && !finding.Known(a.Why.Code)
	})
	return u
}

// Store puts the state into the unit's state, which must then be saved.
func (u *Unit) Store() error { return section.Set(u.State, u.Kept) }

// Observed updates attempts and rejoins with an observation.
func (u *Unit) Observed(s plan.State) {
	for db, x := range s.Databases {
		if s.Recovery[db].Accepts() {
			u.Note(db, u.Attempts[db].Accept())
		}
		if !x.MemberWithLeader() {
			continue
		}
		if a := u.Attempts[db]; a.Stage == recovery.Withdrawn { // the quorum is back
			u.Note(db, a.Led(true))
		}
		if x.Inconsistent.IsZero() {
			u.joinedAnew(db, x.Status.Server)
		}
	}
}

// Involved reports whether this unit may take part in a recovery: one was requested on any unit, or this unit has
// stopped a server for one, or has made a new cluster.
func (u *Unit) Involved(ctx context.Context, m observe.Application) bool {
	for _, db := range ovndb.Databases() {
		if staged, err := u.Files.Staged(ctx, db); err != nil || staged.Cluster != "" {
			return true
		}
	}
	return len(u.Held) > 0 || u.Requested() || m.RequestsRecovery()
}

// States returns the state of each database that may need a recovery: one was requested on any unit, this unit's
// server was stopped for one, or the server knows no leader.
func (u *Unit) States(
	ctx context.Context, snapshot observe.Snapshot, s plan.State, accepted map[ovndb.Database]recovery.Acceptance,
) (map[ovndb.Database]recovery.State, error) {
	all, asked := map[ovndb.Database]recovery.State{}, map[ovndb.Database][]raft.ID{}
	for _, db := range ovndb.Databases() {
		x, cluster := s.Databases[db], s.Clusters.IDs[db]
		if cluster == "" {
			continue
		}
		if u.Judging || u.requested(s, db) {
			asked[db] = []raft.ID{cluster}
		} else if x.MemberWithLeader() || x.Condition == ovndb.Absent {
			continue
		}
		all[db] = recovery.State{
			Database: db, Unit: s.Unit, JujuLeader: s.JujuLeader, Dying: s.Dying, Cluster: cluster, Staged: x.Staged,
			HeldFor: u.Held[db], Now: s.Now, Accepted: accepted[db], Request: u.Request(db), Peers: peers(ctx, s, db),
		}
	}
	u.ask(ctx, snapshot, asked)
	for db, state := range all {
		served := answers{}
		if asked[db] != nil {
			served = *u.served[db]
		}
		x := s.Databases[db]
		state.Serving = others(served.connected, x)
		if err := u.ownCopy(ctx, &state, x, snapshot.Application, served.answering); err != nil {
			return nil, err
		}
		all[db] = state
	}
	return all, nil
}

// others returns the addresses without that of this unit's own server. That server may report a connection for a while
// after it has lost its leader; its status is exact. If it was stopped after it was asked, its address is in its file
// alone.
func others(connected []string, own plan.Database) []string {
	return slices.DeleteFunc(slices.Clone(connected),
		func(a string) bool { return a == own.Status.Address || a == own.File.Address })
}

// requested reports whether a recovery of the application's cluster was requested on any unit.
func (u *Unit) requested(s plan.State, db ovndb.Database) bool {
	return u.Request(db) != nil || u.Held[db] != "" || slices.ContainsFunc(s.Peers, func(p plan.Peer) bool {
		return p.Requests[db].Cluster != "" && p.Requests[db].Cluster == s.Clusters.IDs[db]
	})
}

// peers returns the other units. On Juju's leader it also checks the machines of those that have made a new cluster.
func peers(ctx context.Context, s plan.State, db ovndb.Database) (all []recovery.Peer) {
	for _, p := range s.Peers {
		peer := recovery.Peer{Unit: p.Unit, Dying: p.Dying, Read: !p.Data.Unread()}
		if request, there := p.Requests[db]; there {
			peer.Request = &request
			peer.Reached = s.JujuLeader && request.New != "" && reached(ctx, p.Address, db)
		}
		if copied, there := p.Copies[db]; there {
			peer.Copy = &copied
		}
		all = append(all, peer)
	}
	return all
}

// ownCopy adds this unit's copy, and the members listed in its file, to the state. answering are the addresses at
// which servers answer.
func (u *Unit) ownCopy(
	ctx context.Context, state *recovery.State, x plan.Database, m observe.Application, answering []string,
) error {
	db := state.Database
	if x.Condition == ovndb.Absent || x.Cluster != state.Cluster {
		return nil
	}
	log, err := raftfile.ReadLog(ctx, u.Files.Paths, db)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	state.Own = &recovery.Copy{
		Cluster: state.Cluster, Term: log.Term, Index: log.End - 1, Damage: log.Damage, HasRaftLeader: x.MemberWithLeader(),
		Stopped: state.HeldFor != "" && (x.Condition == ovndb.Down || x.Condition == ovndb.Left),
	}
	if err != nil {
		state.Own.Damage = err.Error()
	}
	for _, id := range log.Members {
		unit := m.LastUnit(db, raft.Peer{Member: raft.Member{Short: id.Short()}, ID: id})
		member := recovery.Member{ID: id, Unit: unit, Answers: slices.Contains(answering, log.Addresses[id])}
		_, member.Exists = m.Goal[member.Unit]
		state.Members = append(state.Members, member)
	}
	return nil
}

// Copies returns this unit's copies in the form in which they are published.
func Copies(states map[ovndb.Database]recovery.State) map[ovndb.Database]recovery.Copy {
	all := map[ovndb.Database]recovery.Copy{}
	for db, state := range states {
		if c := state.Publishes(); c != nil {
			all[db] = *c
		}
	}
	return all
}

// Kept is the stored state of recoveries, restores and rejoins.
type Kept struct {
	// Attempts are the last recovery or restore of each database that was requested on this unit. Held are the units for
	// whose requests this unit's servers were stopped.
	Attempts map[ovndb.Database]recovery.Attempt `json:"attempts,omitempty"`
	Held     map[ovndb.Database]string           `json:"held-for,omitempty"`
	// Restored are the backups that were restored.
	Restored map[ovndb.Database][]restored `json:"restored,omitempty"`
	// Rejoin are the servers that this unit asks other units to remove.
	Rejoin map[ovndb.Database]raft.ID `json:"rejoin,omitempty"`
	// Rejoined are replaced servers. If the same action is run again, it proves that the new ones serve.
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
	return slices.ContainsFunc(slices.Collect(maps.Values(k.Attempts)), recovery.Attempt.Pending)
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

// Databases returns the databases of a request. If it names none, they are the databases without a leader, and those
// whose cluster the same request has made.
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

// Answered returns this unit's pending requests in the form in which they are published.
func (k *Kept) Answered(states map[ovndb.Database]recovery.State) map[ovndb.Database]recovery.Request {
	all := map[ovndb.Database]recovery.Request{}
	for db := range k.Attempts {
		if request := k.Request(db); request != nil {
			all[db] = states[db].Answer(*request)
		}
	}
	return all
}

// joinedAnew records that this unit's server is a member again. The server has replaced the one to be removed, unless
// that one could be started after all.
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

// stage returns the stage of a request for which the old cluster was replaced; otherwise [recovery.Idle]. A server
// that runs and knows no leader may have lost its quorum once more.
func (k *Kept) stage(request Request, state recovery.State, db ovndb.Database) recovery.Stage {
	return k.Attempts[db].Seen(state.Cluster).Led(state.Own == nil || state.Own.HasRaftLeader).Of(request.Backup)
}

// starts reports whether the request's new cluster is published, and may not have been started here yet.
func (k *Kept) starts(request Request, state recovery.State, db ovndb.Database) bool {
	stage := k.stage(request, state, db)
	return stage == recovery.Placed || stage == recovery.Served && state.Own == nil
}

// withoutRaftLeader returns the databases whose server here knows no leader; if all is set, every known database.
func withoutRaftLeader(states map[ovndb.Database]recovery.State, all bool) (databases []ovndb.Database) {
	for _, db := range ovndb.Databases() {
		if s, known := states[db]; known && (all || s.Own != nil && !s.Own.HasRaftLeader) {
			databases = append(databases, db)
		}
	}
	return databases
}
