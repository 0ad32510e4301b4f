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

// maxControlAnswer bounds an answer, in bytes. cluster/status prints about 100 bytes for each member.
const maxControlAnswer = 1 << 20

// PollStatus is like [Control.Status], for an agent that polls several times in each TTL. It starts no process, even
// after an error, but speaks to the control socket as ovs-appctl does (unixctl_client_transact() in lib/unixctl.c).
// ctx and Timeout bound it.
func (c Control) PollStatus(ctx context.Context, d ovndb.Database) (raft.Status, error) {
	text, err := c.transact(ctx, c.Paths.Control(d), "cluster/status", string(d))
	if err != nil {
		return raft.Status{}, fmt.Errorf("cannot ask %s's server for cluster/status: %w", d, err)
	}
	return raft.Parse(text)
}

// Parts of the answer about a database's storage (ovsdb_server_get_db_storage_status() in ovsdb/ovsdb-server.c of Open
// vSwitch, since 2.15).
const (
	storageStatus = "status: "
	storageOK     = "ok"
)

// StorageError returns the server's error about the storage of database d. It returns an empty text if there is no
// error, or if the server is older than Open vSwitch 2.15, which doesn't report it. It starts no process.
//
// The error is "ovsdb error: inconsistent data" if the server could not apply an entry of its log. It stays until the
// server is restarted (ovsdb_storage_unread() in ovsdb/storage.c, all releases up to 3.7). The server has logged
// "syntax error" and skipped the entry, so its data differ from the other members', and it refuses writes of its own
// clients. A failed write to the disk is not reported here.
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

// transact sends one command to the socket, and returns the answer.
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

// call sends one request to a server's socket, as JSON-RPC 1.0, and decodes the result. A refusal is a [*ServerError].
func call(ctx context.Context, socket, method string, params []string, result any) (err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	end := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // SetDeadline never fails on a socket
	defer end()
	request := struct {
		ID     int      `json:"id"`
		Method string   `json:"method"`
		Params []string `json:"params"`
	}{0, method, params}
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return err
	}
	answer := struct {
		Result any // decoded into result
		Error  json.RawMessage
	}{Result: result}
	if err := json.NewDecoder(io.LimitReader(conn, maxControlAnswer)).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		var text string
		if json.Unmarshal(answer.Error, &text) != nil { // the error of a database is an object
			text = string(answer.Error)
		}
		return &ServerError{text}
	}
	return nil
}
