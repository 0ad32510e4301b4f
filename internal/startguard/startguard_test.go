package startguard

import (
	"context"
	"crypto/sha1" //nolint:gosec // the file format's checksum
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// A refusal is recorded until the next start, even if OVN's directory is missing.
func TestStart_refusal_is_kept_until_next_start(t *testing.T) {
	dir := t.TempDir()
	p := ovndb.Paths{Run: filepath.Join(dir, "run"), Etc: filepath.Join(dir, "etc")}
	refused := observe.Refusal{Cluster: "dd000000-0000-4000-8000-000000000000", Reason: "given up"}
	require.NoError(t, note(p, ovndb.NB, refused))
	noted, err := observe.RefusedStart(p, ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, refused, noted)
	noted, err = observe.RefusedStart(p, ovndb.SB)
	require.NoError(t, err)
	assert.Zero(t, noted)

	reason, err := Guard{Paths: p}.Start(t.Context(), ovndb.NB) // it has no peer to ask
	require.NoError(t, err)
	assert.Empty(t, reason)
	assert.NoFileExists(t, p.StartRefusal(ovndb.NB))
}

// The answers to the guard of the other server count, even if no unit answers this one.
func TestCheck_uses_answers_of_other_guard(t *testing.T) {
	const (
		nb   raft.ID = "a1000000-0000-4000-8000-000000000000"
		next raft.ID = "a2000000-0000-4000-8000-000000000000"
		sb   raft.ID = "b1000000-0000-4000-8000-000000000000"
	)
	dir := t.TempDir()
	p := ovndb.Paths{Run: dir, DB: dir, Etc: dir}
	require.NoError(t, os.WriteFile(p.StartGuard(), []byte(`{"peers": []}`), 0o600))
	head := fmt.Sprintf(
		`{"cluster_id":%q,"server_id":%q,"name":%q,"local_address":"ssl:10.0.0.1:6643","servers":{}}`, nb, sb, ovndb.NB,
	) + "\n"
	//nolint:gosec // the checksum of its format
	file := fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(head), sha1.Sum([]byte(head)), head)
	require.NoError(t, os.WriteFile(p.File(ovndb.NB), []byte(file), 0o600))
	guard := Guard{Paths: p}
	about := func(d ovndb.Database, present raft.ID) map[ovndb.Database][]recovery.Answer {
		return map[ovndb.Database][]recovery.Answer{d: {{Address: "10.0.0.2", Cluster: present, Supersedes: []raft.ID{nb}}}}
	}
	for name, tt := range map[string]struct {
		answers map[ovndb.Database][]recovery.Answer
		refused bool
	}{
		"of this database":     {about(ovndb.NB, next), true},
		"of the other alone":   {about(ovndb.SB, next), false},
		"of a present cluster": {about(ovndb.NB, nb), false},
	} {
		require.NoError(t, note(p, ovndb.SB, observe.Refusal{Cluster: sb, Reason: "given up", Answers: tt.answers}))
		reason, err := guard.Start(t.Context(), ovndb.NB)
		require.NoError(t, err, name)
		assert.Equal(t, tt.refused, reason != "", "%s: %s", name, reason)
		noted, err := observe.RefusedStart(p, ovndb.NB)
		require.NoError(t, err)
		assert.Equal(t, reason, noted.Reason, name)
	}
}

// reloads counts how often systemd has read its units again.
type reloads int

func (r *reloads) Reload(context.Context) error {
	*r++
	return nil
}

func TestManager(t *testing.T) {
	t.Parallel()
	dir, systemd := t.TempDir(), new(reloads)
	p := ovndb.Paths{DB: filepath.Join(dir, "lib", "ovn"), Etc: filepath.Join(dir, "etc", "ovn"), Run: dir}
	m := Manager{Paths: p, Systemd: systemd, Log: slog.New(slog.DiscardHandler)}
	members := raft.Status{Servers: []raft.Member{{Address: "ssl:10.0.0.2:6643"}, {Address: "ssl:10.0.0.1:6643"}}}
	var o facts.Facts
	o.Addresses.Own = netip.MustParseAddr("10.0.0.1")
	o.Servers = map[ovndb.Database]observe.ServerState{ovndb.NB: {Status: members}, ovndb.SB: {Status: members}}
	ensure := func() {
		_, err := m.Ensure(t.Context(), o)
		require.NoError(t, err)
	}
	ensure()
	assert.NoFileExists(t, p.StartGuard(), "the agent's program is not there yet")

	for _, path := range []string{p.AgentProgram(), p.StartGuard()} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	}
	require.NoError(t, os.WriteFile(p.AgentProgram(), nil, 0o600))
	o.Preview = true
	ensure()
	assert.NoFileExists(t, p.StartGuard())
	o.Preview = false
	ensure()
	ensure()
	assert.Equal(t, 1, int(*systemd), "what is installed stays")
	text, err := os.ReadFile(p.StartGuard())
	require.NoError(t, err)
	assert.Contains(t, string(text), "10.0.0.2")
	assert.NotContains(t, string(text), "10.0.0.1")
	require.NoError(t, m.Remove(t.Context()))
	assert.NoFileExists(t, p.StartGuard())
	assert.Equal(t, 2, int(*systemd))
}
