package agent

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
)

// SIGHUP makes the agent read the file again. A value that can't be used changes nothing, and is reported; flags
// override the file; and only a changed value that is fixed at the start gives the lease up, once.
func TestFileIsReadAgainAndWhatCannotBeUsedChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	n := slices.Index(p.agents, first)
	require.NoError(t, first.Signal(syscall.SIGTERM))
	<-first.Ended

	file := p.path("agent.json")
	tell := func(options map[string]any) {
		text, err := json.Marshal(options)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	nowhere := []string{"unix:/nonexistent"}
	tell(map[string]any{"unit": "of-the-file", "nb": nowhere, "sb": nowhere, "mode": "on", "hold-down": "7s"})
	one := p.agent(n, "--config", file)
	p.agents[n] = one
	p.holder(p.agents...)
	s := p.status(one)
	assert.Equal(t, "ovn-central/"+string(rune('0'+n)), s.Unit, "a flag goes before the file")
	assert.Equal(t, config.On, s.Mode)
	require.NoError(t, p.but(one)[0].Signal(syscall.SIGTERM)) // so that it acts in the end
	require.NoError(t, p.but(one)[1].Signal(syscall.SIGTERM))
	p.holder(one)
	term := p.status(one).Term

	hangUp := func(says string) {
		t.Helper()
		before := strings.Count(one.Output(), says)
		require.NoError(t, one.Signal(syscall.SIGHUP))
		eventually(t, func() bool { return strings.Count(one.Output(), says) > before }, patience, 10*time.Millisecond, says)
	}
	const refused = "keeping the last one"
	for says, text := range map[string]string{
		"unexpected end of JSON input": "{", "it takes off, advise or on": `{"mode":"sometimes"}`, "is not between 2s and 5m0s": `{"lease-ttl":"1s"}`,
		"cannot unmarshal number": `{"hold-down":5}`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		hangUp(refused)
		assert.Contains(t, one.Output(), says)
		assert.True(t, p.status(one).Acts)
		assert.Equal(t, config.On, p.status(one).Mode)
	}
	require.NoError(t, os.Remove(file))
	hangUp(refused)

	tell(map[string]any{"mode": "advise", "hold-down": "7s"})
	hangUp("read the configuration again")
	assert.Equal(t, config.Advise, p.status(one).Mode)
	assert.Equal(t, term, p.status(one).Term, "the lease is the same")
	tell(map[string]any{"mode": "advise", "lease-ttl": "4s"})
	hangUp("restarts=true")
	eventually(t, func() bool { // it is the holder until it gives the lease back, too
		p.holder(one)
		return p.status(one).Term == term+1
	}, patience, 10*time.Millisecond, "a lease of its own")
}
