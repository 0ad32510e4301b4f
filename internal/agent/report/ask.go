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

// Bounds of a question to this machine's agent. One that begins anew with another configuration is not there
// for a moment.
const (
	askTimeout = 2 * time.Second
	askAgain   = 100 * time.Millisecond
	// dialTimeout leaves time to say why the connection failed.
	dialTimeout = 3 * askTimeout / 4
	maxAnswer   = 4 << 20 // bytes
)

// Ask asks the agent of this machine that is configured by the file, on the socket that only root can open:
// at the address of its API any user's program can answer.
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

// dial connects to the agent's socket, which it tries again for as long as dialTimeout.
func dial(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err == nil {
			return conn, nil
		}
		if poll.Wait(ctx, askAgain) != nil {
			return nil, err // says more than that the time is over
		}
	}
}
