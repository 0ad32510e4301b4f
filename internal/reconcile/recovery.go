package reconcile

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// recoveries are what is known of each database where it may matter: a recovery was asked
// for of a unit, this unit's server was stopped for one, or it knows no leader.
func (u *Reconciler) recoveries(ctx context.Context, p pass, s plan.State) (map[ovndb.Database]recovery.State, error) {
	r := p.record
	all := map[ovndb.Database]recovery.State{}
	wanted := map[ovndb.Database][]raft.ID{}
	for _, db := range ovndb.Databases() {
		if cluster := s.Clusters.IDs[db]; cluster != "" && (p.judging || asked(r, s, db)) {
			wanted[db] = []raft.ID{cluster}
		}
	}
	served := u.serving(ctx, p, wanted)
	for _, db := range ovndb.Databases() {
		x, cluster := s.Databases[db], s.Clusters.IDs[db]
		begun, led := asked(r, s, db), x.MemberWithLeader()
		if cluster == "" || !begun && !p.judging && (led || x.Condition == ovndb.Absent) {
			continue
		}
		state := recovery.State{
			Database: db, Unit: u.Env.Unit, JujuLeader: s.JujuLeader, Dying: s.Dying, Cluster: cluster, Staged: x.Staged, HeldFor: r.Held[db],
			Now: u.Now(), Accepted: r.leader.Accepted[db],
		}
		if request, is := r.Request(db); is {
			state.Request = &request
		}
		for _, p := range s.Peers {
			peer := recovery.Peer{Unit: p.Unit, Dying: p.Dying, Read: p.Data != plan.Unread}
			if request, there := p.Requests[db]; there {
				peer.Request = &request
			}
			if copied, there := p.Copies[db]; there {
				peer.Copy = &copied
			}
			peer.Reached = s.JujuLeader && peer.Request != nil && peer.Request.New != "" && reached(ctx, p.Address, db)
			state.Peers = append(state.Peers, peer)
		}
		if err := u.ownCopy(ctx, &state, x, p.result.Snapshot, served[db].answering); err != nil {
			return nil, err
		}
		state.Serving = elsewhere(served[db].connected, x.Status.Address)
		all[db] = state
	}
	return all, nil
}

// elsewhere are the addresses that are not this unit's own. Its server may call itself connected for a while without a
// leader, and whether it has one is known of it.
func elsewhere(addresses []string, own string) []string {
	return slices.DeleteFunc(slices.Clone(addresses), func(address string) bool { return address == own })
}

// asked reports whether any unit was asked for a recovery of the application's cluster.
func asked(r *record, s plan.State, db ovndb.Database) bool {
	_, own := r.Request(db)
	return own || r.Held[db] != "" || slices.ContainsFunc(s.Peers, func(p plan.Peer) bool {
		return p.Requests[db].Cluster != "" && p.Requests[db].Cluster == s.Clusters.IDs[db]
	})
}

// ownCopy finds out how far this unit's copy goes, and which members its file has. Servers
// answer at the addresses that are given.
func (u *Reconciler) ownCopy(ctx context.Context, state *recovery.State, x plan.Database, snapshot Snapshot, answering []string) error {
	db := state.Database
	if x.Condition == ovndb.Absent || x.Cluster != state.Cluster {
		return nil
	}
	end, err := raftfile.ReadEnd(ctx, u.Paths, db)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	copied := recovery.Copy{Cluster: state.Cluster, Term: end.Term, Index: end.Index, Damage: end.Damage}
	if err != nil {
		copied.Damage = err.Error()
	}
	copied.HasRaftLeader = x.MemberWithLeader()
	copied.Stopped = state.HeldFor != "" && (x.Condition == ovndb.Down || x.Condition == ovndb.Left)
	state.Own = &copied
	m := snapshot.Application
	for _, id := range end.Members {
		member := recovery.Member{ID: id, Unit: m.UnitOf(db, id), Answers: slices.Contains(answering, end.Addresses[id])}
		_, member.Exists = m.Goal[member.Unit]
		state.Members = append(state.Members, member)
	}
	return nil
}

// copies are this unit's copies as published to the peers.
func copies(states map[ovndb.Database]recovery.State) map[ovndb.Database]recovery.Copy {
	all := map[ovndb.Database]recovery.Copy{}
	for db, state := range states {
		if c := state.Publishes(); c != nil {
			all[db] = *c
		}
	}
	return all
}

// serving is [Reconciler.askServing] for each database and its clusters, all at the same
// time, or what that has said in this hook not long ago: machines that are off take all of
// its time.
func (u *Reconciler) serving(ctx context.Context, p pass, wanted map[ovndb.Database][]raft.ID) map[ovndb.Database]answers {
	var (
		mu  sync.Mutex
		wg  sync.WaitGroup
		all = map[ovndb.Database]answers{}
	)
	for db, clusters := range wanted {
		wg.Go(func() {
			mu.Lock()
			known, there := p.progress.serving[db]
			mu.Unlock()
			if !there || u.Now().After(known.until) || !slices.Equal(known.clusters, clusters) {
				known = serving{clusters: clusters, answers: u.askServers(ctx, p.result.Snapshot, db, clusters), until: u.Now().Add(servingAge)}
			}
			mu.Lock()
			defer mu.Unlock()
			all[db], p.progress.serving[db] = known.answers, known
		})
	}
	wg.Wait()
	return all
}

// serving is where servers of clusters served clients a moment ago.
type serving struct {
	clusters []raft.ID
	answers  answers
	until    time.Time
}

// answers are the addresses of servers that answer clients, and those of them that are
// connected to a leader.
type answers struct{ answering, connected []string }

// servingAge is for how long that is taken to be so while a step is chosen. It is asked
// again right before a new cluster takes the old one's place.
const servingAge = 10 * time.Second

// askServing are the addresses at which a server of one of the clusters answers clients and
// is connected to a leader.
func (u *Reconciler) askServing(ctx context.Context, snapshot Snapshot, db ovndb.Database, clusters []raft.ID) []string {
	return u.askServers(ctx, snapshot, db, clusters).connected
}

// askServers asks wherever a server of one of the clusters may be. Those that don't answer in
// time serve no client, as far as can be seen from here.
func (u *Reconciler) askServers(ctx context.Context, snapshot Snapshot, db ovndb.Database, clusters []raft.ID) answers {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var (
		mu  sync.Mutex
		wg  sync.WaitGroup
		all answers
	)
	for _, address := range raftAddresses(snapshot, db) {
		wg.Go(func() {
			state, err := u.Dialer.Server(ctx, db, ovsdb.Endpoints(db, address)...)
			if err != nil || !slices.Contains(clusters, state.Cluster) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			all.answering = append(all.answering, address)
			if state.Connected {
				all.connected = append(all.connected, address)
			}
		})
	}
	wg.Wait()
	slices.Sort(all.answering)
	slices.Sort(all.connected)
	return all
}

// reached reports whether the machine at an address answers: if its server is stopped, it
// refuses the connection.
func reached(ctx context.Context, address string, db ovndb.Database) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(ovndb.RaftPort(db)))))
	if err == nil {
		_ = c.Close() // nothing was said
	}
	return err == nil || errors.Is(err, syscall.ECONNREFUSED)
}

// answerTimeout is how long a server may take to report whether it is connected (rule R0).
const answerTimeout = 2 * time.Second

// raftAddresses are where members of a database are, or were: by its status, by what the
// unit that leads the application has published, and by the units' addresses.
func raftAddresses(snapshot Snapshot, db ovndb.Database) []string {
	m := snapshot.Application
	all := slices.Clone(relation.ParseMembers(m.AppData.Values())[db])
	for _, row := range snapshot.Servers[db].Status.Servers {
		all = append(all, row.Address)
	}
	for _, address := range m.PeerAddresses() {
		all = append(all, ovndb.RaftAddress(db, address.String()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
