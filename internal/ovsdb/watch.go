package ovsdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// ErrNoLeader is returned if a server reports that it is not connected to a leader: its data may be old.
var ErrNoLeader = errors.New("server is not connected to a leader")

// Watch follows one key of external_ids of a database's only row, on one server. It does not write when it reads. Its
// calls must not overlap.
type Watch struct {
	client  client.Client
	global  *Global
	member  *Member
	key     string
	changed chan struct{}
	lost    <-chan struct{}
	server  raft.ID
}

// Watch connects to the first of the endpoints that serves the database and is connected to a leader. The caller closes
// the watch.
func (d *Dialer) Watch(ctx context.Context, db ovndb.Database, key string, endpoints ...string) (*Watch, error) {
	return first(ctx, endpoints, func(ctx context.Context, endpoint string) (*Watch, error) {
		return d.watchOne(ctx, db, key, endpoint)
	})
}

func (d *Dialer) watchOne(ctx context.Context, db ovndb.Database, key, endpoint string) (_ *Watch, err error) {
	w := &Watch{key: key, changed: make(chan struct{}, 1)}
	if w.member, err = d.Member(ctx, db, endpoint); err != nil {
		return nil, err
	}
	if w.client, err = d.database(ctx, db, endpoint); err != nil {
		w.member.Close()
		return nil, err
	}
	w.global = &Global{client: w.client, table: db.GlobalTable()}
	if _, err = w.Read(ctx); err == nil {
		err = w.monitor(ctx)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("cannot watch %s at %s: %w", db, endpoint, err)
	}
	w.lost = untilLost(w.client)
	return w, nil
}

// monitor makes changes of the key wake callers of [Watch.Changed]. It does not use the library's copy.
func (w *Watch) monitor(ctx context.Context) error {
	row := new(globalRow)
	return monitor(ctx, w.client, func(was, now model.Model) {
		if w.value(was) != w.value(now) {
			wake(w.changed)
		}
	}, client.WithTable(row, &row.ExternalIDs))
}

func (w *Watch) value(row model.Model) string {
	if g, ok := row.(*globalRow); ok {
		return g.ExternalIDs[w.key]
	}
	return ""
}

// Changed receives if the key may have changed since the last read.
func (w *Watch) Changed() <-chan struct{} { return w.changed }

// Lost returns a channel that is closed when the connection is lost.
func (w *Watch) Lost() <-chan struct{} { return w.lost }

// Read returns the key's value, empty if the key is missing, from a server that is connected to a leader. If the
// server is not, it returns [ErrNoLeader].
func (w *Watch) Read(ctx context.Context) (string, error) {
	state, err := w.member.State(ctx)
	w.server = state.Server
	switch {
	case err != nil:
		return "", err
	case state.Clustered && !state.Connected:
		return "", ErrNoLeader
	}
	ids, err := w.global.Read(ctx)
	return ids[w.key], err
}

// Server returns the ID of the server that answered the last read; empty for a standalone server.
func (w *Watch) Server() raft.ID { return w.server }

// Swap does [Global.Swap] for the key.
func (w *Watch) Swap(ctx context.Context, old, next string) (bool, error) {
	return w.global.Swap(ctx, w.key, old, next)
}

// Close ends the connections.
func (w *Watch) Close() {
	w.member.Close()
	w.global.Close()
}
