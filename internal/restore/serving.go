package restore

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// answers are the addresses of servers of some clusters: those that answer clients, and of these those that are
// connected to a leader. They count until the time until.
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
// machines that are off use up the whole timeout.
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

// askServers asks all addresses that a server of one of the clusters may have. A server that doesn't answer in time
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

// reached reports whether the machine at an address answers. With a stopped server it refuses the connection.
func reached(ctx context.Context, address string, db ovndb.Database) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(ovndb.RaftPort(db)))))
	if err == nil {
		_ = c.Close() // nothing was written
	}
	return err == nil || errors.Is(err, syscall.ECONNREFUSED)
}

// raftAddresses returns the addresses of present and former members of a database: by its status, by the data of Juju's
// leader, and by the units' addresses.
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
