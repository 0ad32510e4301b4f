package ovsctl_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
)

// answering makes a control socket that answers one command with a text, or never, and passes the command on.
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
		line, _ := bufio.NewReader(conn).ReadString('\n')
		heard <- line
		if _, err := conn.Write([]byte(answer)); err == nil && answer == "" {
			_, _ = conn.Read(make([]byte, 1)) // until the other end gives up
		}
	}()
	return paths, heard
}

func TestPollStatus(t *testing.T) {
	t.Parallel()
	status := strings.Join([]string{
		"3f3b", "Name: OVN_Northbound", "Cluster ID: f3b0 (f3b03511-e217-40a8-8457-fbae1b4bf63f)",
		"Server ID: 3f3b (3f3b7992-b0a2-4380-8cf5-8bcd008cac5f)", "Address: tcp:127.0.0.1:6643",
		"Status: cluster member", "Role: candidate", "Term: 2", "Leader: unknown", "Vote: self", "",
		"Election timer: 1000", "Log: [2, 6]", "Entries not yet committed: 0", "Entries not yet applied: 0",
		"Connections: ->0000", "Disconnections: 0", "Servers:", "    3f3b (3f3b at tcp:127.0.0.1:6643) (self)", "",
	}, `\n`)
	paths, asked := answering(t, `{"id":0,"result":"`+status+`","error":null}`)
	found, err := ovsctl.Control{Paths: paths}.PollStatus(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":0,"method":"cluster/status","params":["OVN_Northbound"]}`, <-asked)
	assert.Equal(t, "3f3b", found.Server.Short())
	assert.True(t, found.CutOff())
}

func TestPollStatus_errors(t *testing.T) {
	t.Parallel()
	paths, _ := answering(t, `{"id":0,"result":null,"error":"unknown cluster"}`)
	_, err := ovsctl.Control{Paths: paths}.PollStatus(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "unknown cluster")
	_, err = ovsctl.Control{Paths: ovndb.Paths{Run: t.TempDir()}}.PollStatus(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, os.ErrNotExist)
	paths, _ = answering(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ovsctl.Control{Paths: paths}.PollStatus(ctx, ovndb.NB)
	require.Error(t, err, "a server that hangs")
}
