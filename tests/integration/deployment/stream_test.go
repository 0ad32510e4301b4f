package deployment

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// stream is a client whose only connection stays open: it follows a table.
type stream struct {
	t      *testing.T
	output string
	ended  chan error
}

// follow connects to a unit's port from the clients' network, with these files, and waits until it is connected.
func follow(c *labtest.Model, u *lab.Unit, port int, database, table, column string, with lab.Credentials) *stream {
	c.T.Helper()
	namespace, err := c.HubNamespace()
	require.NoError(c.T, err)
	s := &stream{t: c.T, output: filepath.Join(c.T.TempDir(), "followed"), ended: make(chan error, 1)}
	out, err := os.Create(s.output)
	require.NoError(c.T, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.T.Context()))
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+namespace, "--", "ovsdb-client")
	cmd.Args = append(append(cmd.Args, with.Options()...),
		"monitor", fmt.Sprintf("ssl:%s:%d", bracketed(u.Address()), port), database, table, column)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(c.T, cmd.Start())
	over := make(chan struct{})
	go func() {
		s.ended <- cmd.Wait()
		close(over)
	}()
	c.T.Cleanup(func() {
		cancel()
		<-over
		assert.NoError(c.T, out.Close())
	})
	s.shows(column)
	return s
}

// shows waits until the client has received a text.
func (s *stream) shows(what string) {
	s.t.Helper()
	deadline := time.After(labtest.Patience)
	for {
		text, err := os.ReadFile(s.output)
		require.NoError(s.t, err)
		if strings.Contains(string(text), what) {
			return
		}
		select {
		case err := <-s.ended:
			require.Fail(s.t, "the connection has ended", "%v: %s", err, text)
		case <-deadline:
			require.Fail(s.t, "the client has not seen "+what, "%s", text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func bracketed(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}
