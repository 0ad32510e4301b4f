package ovsctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// maxControlAnswer bounds the answer to a command; that of cluster/status has 100 bytes or so a
// member.
const maxControlAnswer = 1 << 20

// PollStatus is what cluster/status says, for an agent that asks several times in each TTL: it
// speaks to the control socket itself, as ovs-appctl does (unixctl_client_transact() in
// lib/unixctl.c of Open vSwitch), so that no process is started. ctx bounds it, and the
// control's timeout. A server that does not answer so is any error.
func (c Control) PollStatus(ctx context.Context, d ovndb.Database) (raft.Status, error) {
	text, err := c.transact(ctx, c.Paths.Control(d), "cluster/status", string(d))
	if err != nil {
		return raft.Status{}, fmt.Errorf("cannot ask %s's server for cluster/status: %w", d, err)
	}
	return raft.Parse(text)
}

// storageOK is what comes before the error of a database's storage, and what is there without
// one (ovsdb_server_get_db_storage_status() in ovsdb/ovsdb-server.c of Open vSwitch, from 2.15 on).
const (
	storageStatus = "status: "
	storageOK     = "ok"
)

// StorageError returns what is wrong with the storage of database d, as the server reports it; empty if
// nothing is, or if the server is older than Open vSwitch 2.15, which doesn't report it. It starts no
// process.
//
// It is "ovsdb error: inconsistent data" from when the server could not apply an entry of its log
// (ovsdb_storage_unread() in ovsdb/storage.c, all releases up to 3.7) until the server is restarted. The server
// has logged "syntax error", left the entry out and continued, so that its data differ from the other members',
// and refuses what its own clients write. A failed write to the disk is not reported here.
func (c Control) StorageError(ctx context.Context, d ovndb.Database) (string, error) {
	text, err := c.transact(ctx, c.Paths.Control(d), "ovsdb-server/get-db-storage-status", string(d))
	if refused := (*ServerError)(nil); errors.As(err, &refused) &&
		strings.Contains(refused.Text, "is not a valid command") {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot ask %s's server how its storage is: %w", d, err)
	}
	said, found := strings.CutPrefix(strings.TrimSpace(text), storageStatus)
	switch {
	case !found:
		return "", fmt.Errorf("cannot tell how the storage of %s is: its server says %.60q", d, text)
	case said == storageOK:
		return "", nil
	}
	return said, nil
}

// transact sends one command to the socket, and returns what is answered.
func (c Control) transact(ctx context.Context, socket, command string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, controlTimeout))
	defer cancel()
	var answer *string
	if err := call(ctx, socket, command, args, &answer); err != nil {
		return "", err
	}
	if answer == nil {
		return "", errors.New("it answers nothing")
	}
	return *answer, nil
}

// call sends one request to a socket of a server, as JSON-RPC 1.0, and decodes what is answered. A refusal is a
// [*ServerError].
func call(ctx context.Context, socket, method string, params []string, result any) (err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	end := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // it never fails on a socket
	defer end()
	request := struct {
		ID     int      `json:"id"`
		Method string   `json:"method"`
		Params []string `json:"params"`
	}{0, method, params}
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return err
	}
	var answer struct{ Result, Error json.RawMessage }
	if err := json.NewDecoder(io.LimitReader(conn, maxControlAnswer)).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		var text string
		if json.Unmarshal(answer.Error, &text) != nil { // of a database it is an object
			text = string(answer.Error)
		}
		return &ServerError{text}
	}
	return json.Unmarshal(answer.Result, result)
}
