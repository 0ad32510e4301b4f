package ovsctl_test

import (
	"bufio"
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
)

// answering has a control socket answer one command with a text, or with nothing, and returns where
// it is and what it was asked.
func answering(t *testing.T, answer string) (paths ovndb.Paths, asked <-chan string) {
	t.Helper()
	paths = ovndb.Paths{Run: t.TempDir()}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", paths.Control(ovndb.NB))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	heard := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := bufio.NewReader(conn).ReadString('\n') // what is missing is seen
		heard <- line
		if _, err := conn.Write([]byte(answer)); err == nil && answer == "" {
			_, _ = conn.Read(make([]byte, 1)) // until the other end gives up
		}
	}()
	return paths, heard
}

func TestStatusIsPolledAsOvsAppctlAsks(t *testing.T) {
	t.Parallel()
	const status = `3f3b\nName: OVN_Northbound\nCluster ID: f3b0 (f3b03511-e217-40a8-8457-fbae1b4bf63f)\n` +
		`Server ID: 3f3b (3f3b7992-b0a2-4380-8cf5-8bcd008cac5f)\nAddress: tcp:127.0.0.1:6643\nStatus: cluster member\nRole: candidate\n` +
		`Term: 2\nLeader: unknown\nVote: self\n\nElection timer: 1000\nLog: [2, 6]\nEntries not yet committed: 0\nEntries not yet applied: 0\n` +
		`Connections: ->0000\nDisconnections: 0\nServers:\n    3f3b (3f3b at tcp:127.0.0.1:6643) (self)\n`
	paths, asked := answering(t, `{"id":0,"result":"`+status+`","error":null}`)
	found, err := ovsctl.Control{Paths: paths}.PollStatus(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":0,"method":"cluster/status","params":["OVN_Northbound"]}`, <-asked)
	assert.Equal(t, "3f3b", found.Server.Short())
	assert.True(t, found.CutOff())
}

func TestStatusIsNotPolledFromWhatDoesNotServeTheDatabase(t *testing.T) {
	t.Parallel()
	paths, _ := answering(t, `{"id":0,"result":null,"error":"unknown cluster"}`)
	_, err := ovsctl.Control{Paths: paths}.PollStatus(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "unknown cluster")
	_, err = ovsctl.Control{Paths: ovndb.Paths{Run: t.TempDir()}}.PollStatus(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "no such file")
	paths, _ = answering(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ovsctl.Control{Paths: paths}.PollStatus(ctx, ovndb.NB)
	require.Error(t, err, "a server that hangs")
}
