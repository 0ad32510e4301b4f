package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
)

// Bounds of a question to this machine's agent.
const (
	askTimeout = 2 * time.Second
	maxAnswer  = 4 << 20 // bytes
)

// Ask asks the agent of this machine that is configured by the file.
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
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Listen+Path, http.NoBody)
	if err != nil {
		return s, fmt.Errorf("cannot ask the agent: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
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
	return s, nil
}
