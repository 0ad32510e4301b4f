package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Limits of a question to this machine's agent. An agent that restarts with another configuration can't be reached for
// a moment.
const (
	askTimeout = 2 * time.Second
	askAgain   = 100 * time.Millisecond
	// dialTimeout leaves time to return the reason why a connection failed.
	dialTimeout = 3 * askTimeout / 4
	maxAnswer   = 4 << 20 // bytes
)

// Ask asks this machine's agent for its report, on the socket in the configuration file. Only root can open that
// socket, while any user's program can answer at the address of the agent's API.
func Ask(ctx context.Context, file string) (s Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	text, err := os.ReadFile(file)
	if err != nil {
		return s, fmt.Errorf("cannot ask the agent, which was not set up yet: %w", err)
	}
	c, err := config.Parse(text, config.Config{})
	if err != nil {
		return s, fmt.Errorf("cannot ask the agent: its configuration %s cannot be read: %w", file, err)
	}
	if c.Socket == "" {
		return s, fmt.Errorf("cannot ask the agent: its configuration %s names no socket", file)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://agent"+Path, http.NoBody)
	if err != nil {
		return s, fmt.Errorf("cannot ask the agent: %w", err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, c.Socket) }
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	answer, err := client.Do(r)
	if err != nil {
		return s, fmt.Errorf("cannot ask the agent: %w; look at: journalctl -u ovn-central-agent", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return s, fmt.Errorf("cannot ask the agent: it answers %s", answer.Status)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&s); err != nil {
		return s, fmt.Errorf("cannot understand the agent's answer: %w", err)
	}
	foreign.Texts(&s) // another program of this machine may listen there
	return s, nil
}

// dial connects to the agent's socket, and tries again until dialTimeout.
func dial(ctx context.Context, socket string) (conn net.Conn, err error) {
	poll.Await(ctx, dialTimeout, askAgain, nil, func() bool {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", socket)
		return err == nil
	})
	return conn, err
}
