package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// serverTimeout bounds a question to a server, which may hang.
const serverTimeout = 3 * time.Second

// Appctl asks the database's server what ovs-appctl would, for at most [serverTimeout]: one
// request of JSON-RPC on its control socket, without a program that runs for it. Source:
// lib/unixctl.c of Open vSwitch.
func (u *Unit) Appctl(ctx context.Context, db DB, command string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	answer, err := unixctl(ctx, u.Ctl(db), command, args)
	if err != nil {
		return "", fmt.Errorf("cannot ask %s of %s for %s: %w", db, u.name, command, err)
	}
	return answer, nil
}

func unixctl(ctx context.Context, socket, command string, args []string) (string, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if args == nil {
		args = []string{}
	}
	request := map[string]any{"id": 0, "method": command, "params": args}
	if err := json.NewEncoder(c).Encode(request); err != nil {
		return "", err
	}
	var reply struct {
		Result string  `json:"result"`
		Error  *string `json:"error"`
	}
	switch err := json.NewDecoder(c).Decode(&reply); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", err
	case reply.Error != nil:
		return "", errors.New(strings.TrimSpace(*reply.Error))
	}
	return reply.Result, nil
}
