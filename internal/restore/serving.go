package restore

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// answers are the addresses of servers of some clusters: those that answer clients, and those that also report a
// connection to a leader. They are valid until the time until.
type answers struct {
	clusters             []raft.ID
	until                time.Time
	answering, connected []string
}

// answerAge is how long answers count for choosing a step. Servers are asked again right before a new cluster replaces
// the old one.
const answerAge = 10 * time.Second

// answerTimeout is how long a server may take to report whether it is connected (R0).
const answerTimeout = 2 * time.Second

// ask asks the servers of the wanted clusters, all at the same time, unless they have answered recently in this hook:
// a machine that is off takes the whole timeout.
func (u *Unit) ask(ctx context.Context, snapshot observe.Snapshot, wanted map[ovndb.Database][]raft.ID) {
	var databases []ovndb.Database
	for db, clusters := range wanted {
		known := u.served[db]
		if known == nil || u.Now().After(known.until) || !slices.Equal(known.clusters, clusters) {
			databases = append(databases, db)
		}
	}
	all := observe.AtOnce(databases, func(db ovndb.Database) answers {
		return u.askServers(ctx, snapshot, db, wanted[db])
	})
	if u.served == nil {
		u.served = map[ovndb.Database]*answers{}
	}
	for i, db := range databases {
		u.served[db] = &all[i]
	}
}

// Rival returns the address of a server of one of the clusters that is connected to a leader; empty if there is none.
func (u *Unit) Rival(ctx context.Context, snapshot observe.Snapshot, db ovndb.Database, clusters []raft.ID) string {
	u.ask(ctx, snapshot, map[ovndb.Database][]raft.ID{db: clusters})
	return first(u.served[db].connected)
}

// askServers asks all addresses at which a server of one of the clusters may be. A server that doesn't answer in time
// counts as not serving.
func (u *Unit) askServers(
	ctx context.Context, snapshot observe.Snapshot, db ovndb.Database, clusters []raft.ID,
) answers {
	timed, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	all, addresses := answers{clusters: clusters}, raftAddresses(snapshot, db)
	states := observe.AtOnce(addresses, func(address string) ovsdb.ServerState {
		state, err := u.Dialer.Server(timed, db, ovsdb.Endpoints(db, address)...)
		if err != nil || !slices.Contains(clusters, state.Cluster) {
			return ovsdb.ServerState{}
		}
		return state
	})
	for i, state := range states {
		if state.Cluster != "" {
			all.answering = append(all.answering, addresses[i])
		}
		if state.Connected {
			all.connected = append(all.connected, addresses[i])
		}
	}
	all.until = u.Now().Add(answerAge)
	return all
}

// reached reports whether the machine at an address answers. If its server is stopped, the machine refuses the
// connection.
func reached(ctx context.Context, address netip.Addr, db ovndb.Database) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(address, ovndb.RaftPort(db)).String())
	if err == nil {
		_ = c.Close() // nothing was written
	}
	return err == nil || errors.Is(err, syscall.ECONNREFUSED)
}

// raftAddresses returns the addresses of present and former members of a database: from its status, from the data of
// Juju's leader, and from the units' addresses.
func raftAddresses(snapshot observe.Snapshot, db ovndb.Database) []string {
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

// proofKey with a unit's name behind it is the key in external_ids of NB_Global and SB_Global that proves that a new
// cluster serves: it is written, read and deleted.
const proofKey = "ovn-central:recovery-proof/"

const (
	// acknowledgement is the timeout of a write: it allows for some elections at the default timer.
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
			addresses[peer.Unit] = peer.Address.String() // no member has the text of an invalid address
		}
	}
	p.Units = unitProofs(s, db, addresses, request)
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
	s plan.State, db ovndb.Database, addresses map[string]string, request recovery.Request,
) (all []recovery.UnitProof) {
	for unit, address := range addresses {
		at := ovndb.RaftAddress(db, address)
		all = append(all, recovery.UnitProof{
			Unit: unit, GivenUp: slices.Contains(request.GivenUp, unit),
			Paused: slices.ContainsFunc(s.Peers, func(p plan.Peer) bool { return p.Unit == unit && p.Paused }),
			Member: address != "" && slices.ContainsFunc(s.Databases[db].Status.Servers,
				func(row raft.Member) bool { return row.Address == at }),
		})
	}
	slices.SortFunc(all, func(a, b recovery.UnitProof) int { return unitname.Compare(a.Unit, b.Unit) })
	return all
}

// writeProof writes the key, and returns once a majority has stored it.
func (u *Unit) writeProof(ctx context.Context, db ovndb.Database, address, key, value string) error {
	ctx, cancel := context.WithTimeout(ctx, acknowledgement)
	defer cancel()
	return u.onGlobal(ctx, db, address, func(g *ovsdb.Global, ids map[string]string) error {
		swapped, err := g.Swap(ctx, key, ids[key], value)
		if err == nil && !swapped {
			err = finding.Reason{Code: finding.OtherWrites, Value: key}.Err()
		}
		return err
	})
}

// readProof reads from one server, whether or not it leads.
func (u *Unit) readProof(ctx context.Context, db ovndb.Database, address, key, value string) error {
	unseen := finding.Reason{Code: finding.NotSeenWithin, Age: readBack}
	ctx, cancel := context.WithTimeoutCause(ctx, readBack, unseen.Err())
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
		err = context.Cause(ctx) // not the error of the last read
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
