package ovsdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// ErrNoDatabase is returned if a server answers but does not serve the database: it has left the cluster or was kicked.
var ErrNoDatabase = errors.New("server does not serve the database")

// ServerState is a server's state of one database.
type ServerState struct {
	raft.ProbeResult
	// Clustered is false for a standalone database.
	Clustered bool
	// Index is the index of the newest entry that clients see; 0 if unknown.
	Index uint64
}

// Server returns the state of the server at the first endpoint that answers. Errors are those of [Dialer.Member] and
// [Member.State].
func (d *Dialer) Server(ctx context.Context, db ovndb.Database, endpoints ...string) (ServerState, error) {
	m, err := d.Member(ctx, db, endpoints...)
	if err != nil {
		return ServerState{}, err
	}
	defer m.Close()
	return m.State(ctx)
}

// Member is a connection to a server, for repeated queries of its state.
type Member struct {
	session *session
	db      ovndb.Database
}

// Member connects to the first of the endpoints that answers. The caller closes the connection.
func (d *Dialer) Member(ctx context.Context, db ovndb.Database, endpoints ...string) (*Member, error) {
	s, err := d.session(ctx, "_Server", endpoints...)
	if err != nil {
		return nil, err
	}
	return &Member{s, db}, nil
}

// Close ends the connection.
func (m *Member) Close() { m.session.Close() }

// State returns the server's state, from `_Server` (ovsdb-server(5)). It returns [ErrNoDatabase] if the server does not
// serve the database.
func (m *Member) State(ctx context.Context) (ServerState, error) {
	answers, err := readKnown(ctx, m.session, query{
		"Database",
		[]string{"model", "connected", "leader", "cid", "sid", "index"},
		[]ovsdb.Condition{equals("name", string(m.db))},
	})
	if err != nil {
		return ServerState{}, fmt.Errorf("cannot read _Server: %w", err)
	}
	if len(answers[0]) != 1 {
		return ServerState{}, ErrNoDatabase
	}
	r := answers[0][0]
	s := ServerState{Clustered: r["model"] == "clustered", Index: uint64(max(r.number("index"), 0))}
	s.Connected, s.Leader = r["connected"] == true, r["leader"] == true
	// The ID is missing or zero until the server has joined.
	s.Cluster, _ = raft.ParseID(r.reference("cid"))
	s.Server, _ = raft.ParseID(r.reference("sid"))
	return s, nil
}

// answerTimeout limits the search for the leader. A server that hangs still accepts connections.
const answerTimeout = 2 * time.Second

// preferred sorts the endpoints of a database: first the leader, which does not forward writes; then members that are
// connected to a leader; then the others. These may be connected, or answer in time, when they are used.
func (d *Dialer) preferred(ctx context.Context, db ovndb.Database, endpoints []string) []string {
	if len(endpoints) < 2 {
		return endpoints
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ranks := make([]int, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			state, err := d.Server(ctx, db, endpoint)
			switch {
			case err != nil || !state.Connected:
				ranks[i] = 2
			case state.Clustered && !state.Leader:
				ranks[i] = 1
			}
		})
	}
	asked.Wait()
	order := map[string]int{}
	for i, endpoint := range endpoints {
		order[endpoint] = ranks[i]
	}
	byOrder := func(a, b string) int { return cmp.Compare(order[a], order[b]) }
	return slices.SortedStableFunc(slices.Values(endpoints), byOrder)
}
