package ovsctl

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// compactTimeout bounds a compaction, with what the database's size adds
// ([raft.Patience]): a member with 160 MiB is silent for up to 30 s.
const compactTimeout = 2 * time.Minute

// Compact makes the server of database d write its file again from what it has in
// memory, as it does by itself once the file has grown. If it can't write, the old
// file stays and it is a [*ServerError]; that is also the answer if nothing was
// committed since the last time. Success does not mean that it is done: if the copy
// is ready before the server has looked at it, a later turn of its main loop writes it
// (ovsdb_server_compact() in ovsdb/ovsdb-server.c). Measured on OVS 3.1: entries that a
// failed write has lost are in the new file.
func (c Control) Compact(ctx context.Context, d ovndb.Database) error {
	c.Timeout = max(c.Timeout, raft.Patience(compactTimeout, raftfile.Size(c.Paths.File(d))))
	_, err := c.call(ctx, d, "ovsdb-server/compact")
	return err
}

// TrimMemory has the server of database d give unused memory back to the system after each
// compaction, until it ends (ovsdb-server(1), ovsdb-server/memory-trim-on-compaction;
// since Open vSwitch 2.15). It may be asked for again. What is set can't be asked for.
func (c Control) TrimMemory(ctx context.Context, d ovndb.Database) error {
	_, err := c.askServer(ctx, d, "ovsdb-server/memory-trim-on-compaction", "on")
	return err
}
