package ovsdb

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// northdInterval is how often to check whether ovn-northd has caught up.
const northdInterval = 50 * time.Millisecond

// AwaitNorthd waits until ovn-northd has reached the requested nb_cfg: then it has copied all earlier writes to SB. It
// calls waiting at each check with the nb_cfg that ovn-northd has reached.
func (g *Gateways) AwaitNorthd(ctx context.Context, asked int64, waiting func(followed int64)) error {
	for {
		answers, err := g.read(ctx, g.nb, query{table: ovndb.NB.GlobalTable(), columns: []string{"sb_cfg"}})
		if err != nil {
			return err
		}
		if len(answers[0]) == 1 {
			followed := answers[0][0].number("sb_cfg")
			if followed >= asked {
				return nil
			}
			waiting(followed)
		}
		if err := poll.Wait(ctx, northdInterval); err != nil {
			return fmt.Errorf("ovn-northd has not taken the changes to SB yet: %w", err)
		}
	}
}

// errNotLeader is returned if a server does not lead SB, or no longer.
var errNotLeader = errors.New("the server does not lead")

// NorthdLockFree reports whether no session has the lock of the active ovn-northd (ovn_northd in northd/ovn-northd.c):
// then none is active. Each server has its own locks, and ovn-northd uses SB's leader: that the lock is free on another
// server means nothing, and is an error.
func (d *Dialer) NorthdLockFree(ctx context.Context, endpoints ...string) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return first(ctx, endpoints, func(ctx context.Context, endpoint string) (free bool, err error) {
		if free, err = d.tryNorthdLock(ctx, endpoint); err != nil {
			return false, fmt.Errorf("cannot ask %s for the lock of ovn-northd: %w", endpoint, err)
		}
		if !free {
			return false, nil
		}
		state, err := d.Server(ctx, ovndb.SB, endpoint)
		if err == nil && !state.Leader {
			err = errNotLeader
		}
		return err == nil, err
	})
}

// lockRequests take the lock and release it, or leave its queue. They are sent in one write: the server answers both
// even if this process hangs or ends after it. So the lock is never kept from an ovn-northd.
const lockRequests = `{"id":1,"method":"lock","params":["ovn_northd"]}` +
	`{"id":2,"method":"unlock","params":["ovn_northd"]}`

// maxLockAnswer bounds the answer, in bytes.
const maxLockAnswer = 1 << 12

func (d *Dialer) tryNorthdLock(ctx context.Context, endpoint string) (free bool, err error) {
	conn, err := d.dial(ctx, endpoint)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := io.WriteString(conn, lockRequests); err != nil {
		return false, err
	}
	var answer struct {
		ID     any
		Result *struct{ Locked *bool }
	}
	if err := json.NewDecoder(io.LimitReader(conn, maxLockAnswer)).Decode(&answer); err != nil {
		return false, err
	}
	if answer.ID != 1.0 || answer.Result == nil || answer.Result.Locked == nil {
		return false, errors.New("the server has answered wrongly")
	}
	return *answer.Result.Locked, nil
}

func (d *Dialer) dial(ctx context.Context, endpoint string) (net.Conn, error) {
	protocol, address, _ := strings.Cut(endpoint, ":")
	if protocol != "ssl" {
		return new(net.Dialer).DialContext(ctx, protocol, address)
	}
	config, err := d.ClientTLS()
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}
