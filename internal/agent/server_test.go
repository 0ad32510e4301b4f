package agent

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

func TestBounded_one_client_cannot_take_all_connections(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	l, err := a.listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	accepted := make(chan net.Conn, maxConnections)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			accepted <- c
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	dial := func(from string) net.Conn {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Minute}).DialContext(t.Context(),
			"tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	var first net.Conn
	for range maxConnectionsOfOne {
		dial("127.0.0.2")
		c := <-accepted
		if first == nil {
			first = c
		}
	}
	refused := dial("127.0.0.2")
	require.NoError(t, refused.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = refused.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is closed at once")
	dial("127.0.0.3")
	<-accepted
	require.NoError(t, first.Close())
	dial("127.0.0.2")
	<-accepted
}

// Clients that write or read slowly, or send too much, are cut off.
func TestAPI_slow_and_oversized_requests_are_cut_off(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	for i := range 100_000 { // more than the sockets' buffers take
		a.gateways.report.status.Orphans = append(a.gateways.report.status.Orphans,
			finding.Document{Subject: fmt.Sprint("c", i), Message: strings.Repeat("x", 200)})
	}
	a.config.Listen, a.config.PeerListen = loopbacktest.Network(t)+".1:16401", ""
	serves(t, a)
	ask := func(t *testing.T, text string) net.Conn {
		t.Helper()
		c := connect(t, a.config.Listen)
		require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
		_, err := fmt.Fprint(c, text)
		require.NoError(t, err)
		return c
	}
	t.Run("slow_writer", func(t *testing.T) {
		t.Parallel()
		begun := time.Now()
		_, err := io.Copy(io.Discard, ask(t, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "))
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.GreaterOrEqual(t, time.Since(begun), headerTimeout)
	})
	t.Run("slow_reader", func(t *testing.T) {
		t.Parallel()
		c := ask(t, "GET /agent HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, poll.Wait(t.Context(), 2*writeTimeout))
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil { // on a busy machine nothing was written in time
			_, err = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		require.Error(t, err, "it gets the whole answer")
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	})
	t.Run("silent_client", func(t *testing.T) {
		t.Parallel()
		begun := time.Now()
		c := ask(t, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err := io.Copy(io.Discard, c)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(begun), idleTimeout)
		assert.Less(t, idleTimeout, 6*time.Second, "others wait for its place")
	})
	t.Run("oversized_header", func(t *testing.T) {
		t.Parallel()
		c := ask(t, "GET / HTTP/1.1\r\nHost: x\r\nX-Much: "+strings.Repeat("x", 4*maxHeaderBytes)+"\r\n\r\n")
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		defer r.Body.Close()
		assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, r.StatusCode)
	})
}

// Any user of the machine can take all connections of the API's address. The charm does not need that address.
func TestAsk_works_while_API_has_no_free_connection(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	dir := t.TempDir()
	a.config.Listen, a.config.PeerListen, a.config.Socket = loopbacktest.Network(t)+".1:16401", "",
		filepath.Join(dir, "agent.sock")
	file := filepath.Join(dir, "agent.json")
	require.NoError(t, os.WriteFile(file, a.config.Render(), 0o600))
	serves(t, a)
	for range maxConnectionsOfOne + 1 {
		connect(t, a.config.Listen)
	}
	s, err := report.Ask(t.Context(), file)
	require.NoError(t, err)
	assert.Equal(t, "u/0", s.Unit)
}

// Any user of the machine can take the API's address while no agent runs.
func TestServe_taken_address_is_reported_and_retried(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	network := loopbacktest.Network(t)
	a.config.Listen, a.config.PeerListen = network+".1:16401", network+".1:16402"
	squatter, err := new(net.ListenConfig).Listen(t.Context(), "tcp", a.config.Listen)
	require.NoError(t, err)
	t.Cleanup(func() { _ = squatter.Close() })
	serves(t, a)
	const patience, pause = time.Minute, 10 * time.Millisecond
	require.Eventually(t, func() bool { return a.status().TakenAddress != "" }, patience, pause)
	assert.Equal(t, a.config.Listen, a.status().TakenAddress)
	assert.Contains(t, a.status().Problem(), a.config.Listen)
	require.NoError(t, squatter.Close())
	require.Eventually(t, func() bool { return a.status().Problem() == "" }, patience, pause)
	connect(t, a.config.Listen)

	twin, _ := newTestAgent(t)
	twin.config.Listen, twin.config.PeerListen = network+".1:26401", a.config.PeerListen
	_, err = twin.serve(t.Context())
	require.ErrorIs(t, err, syscall.EADDRINUSE, "two processes of a unit must not act")
}
