package agent

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// serveStatus makes the control socket of this machine's NB server return a captured status.
func serveStatus(t *testing.T, captured string) (paths ovndb.Paths, server raft.ID) {
	t.Helper()
	text, err := os.ReadFile("../raft/testdata/cluster-status/" + captured + ".txt")
	require.NoError(t, err)
	status, err := raft.Parse(string(text))
	require.NoError(t, err)
	answer, err := json.Marshal(map[string]any{"id": 0, "result": string(text), "error": nil})
	require.NoError(t, err)
	paths = ovndb.Paths{Run: t.TempDir()}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", paths.Control(ovndb.NB))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = bufio.NewReader(c).ReadString('\n') // the question
			_, _ = c.Write(answer)                     // a test that needs it fails if this fails
			_ = c.Close()
		}
	}()
	return paths, status.Server
}

// 003-5: a member that hears no other is cut off, although `_Server` still calls it connected, until it has a leader
// again.
func TestLeaderProbe_cut_off_until_leader(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	const elsewhere = "3f3b7992-b0a2-4380-8cf5-8bcd008cac5f"
	ask := func(member raft.ID) error { return a.northbound.check(t.Context(), a, member) }
	var server raft.ID
	a.paths = ovndb.Paths{Run: t.TempDir()}
	require.NoError(t, ask(elsewhere), "no server is here to be asked")
	a.paths, server = serveStatus(t, "nb-follower-leader-unknown-voted-other")
	require.NoError(t, ask(server), "an election")
	a.paths, server = serveStatus(t, "nb-candidate-alone")
	require.ErrorIs(t, ask(server), ovsdb.ErrNoLeader)
	require.NoError(t, ask(elsewhere), "the member is another machine's")
	require.NoError(t, ask(""), "it is none of a cluster")
	a.paths, server = serveStatus(t, "nb-follower-leader-unknown-voted-other")
	require.ErrorIs(t, ask(server), ovsdb.ErrNoLeader)
	a.paths, server = serveStatus(t, "nb-3member-leader")
	require.NoError(t, ask(server))
}
