package ovn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

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

// transact sends one command to the socket, as JSON-RPC 1.0, and returns what is answered.
func (c Control) transact(ctx context.Context, socket, command string, args ...string) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, controlTimeout))
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if until, limited := ctx.Deadline(); limited {
		if err := conn.SetDeadline(until); err != nil {
			return "", err
		}
	}
	request := struct {
		ID     int      `json:"id"`
		Method string   `json:"method"`
		Params []string `json:"params"`
	}{0, command, args}
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return "", err
	}
	var answer struct{ Result, Error *string }
	if err := json.NewDecoder(io.LimitReader(conn, maxControlAnswer)).Decode(&answer); err != nil {
		return "", err
	}
	switch {
	case answer.Error != nil:
		return "", &ServerError{*answer.Error}
	case answer.Result == nil:
		return "", errors.New("it answers nothing")
	}
	return *answer.Result, nil
}
