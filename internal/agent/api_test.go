package agent

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// What a client may take of an agent has bounds, whether it writes or reads slowly, or says too much.
func TestClientsThatAreSlowOrSayTooMuchAreCutOff(t *testing.T) {
	t.Parallel()
	a, _ := played(t)
	for range 100_000 { // more than the sockets' buffers take
		a.gateways.report.orphans = append(a.gateways.report.orphans, schedule.Finding{Where: "c1", Text: strings.Repeat("x", 200)})
	}
	a.gateways.report.seen = &observation{}
	a.config.Listen, a.config.PeerListen = loopbacktest.Network(t)+".1:16401", ""
	all, err := a.serve(t.Context())
	require.NoError(t, err)
	t.Cleanup(all.close)
	assert.Equal(t, time.Minute, all[0].IdleTimeout, "which is too long to wait for")
	const patience = time.Minute
	ask := func(t *testing.T, text string) net.Conn {
		t.Helper()
		c, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", a.config.Listen)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
		_, err = fmt.Fprint(c, text)
		require.NoError(t, err)
		return c
	}
	t.Run("it writes slowly", func(t *testing.T) {
		t.Parallel()
		begun := time.Now()
		_, err := io.Copy(io.Discard, ask(t, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "))
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.GreaterOrEqual(t, time.Since(begun), headerTimeout)
	})
	t.Run("it reads slowly", func(t *testing.T) {
		t.Parallel()
		c := ask(t, "GET /agent HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, poll.Wait(t.Context(), 2*writeTimeout))
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil { // on a machine that is busy nothing was written in time
			_, err = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		require.Error(t, err, "it gets the whole answer")
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	})
	t.Run("it says too much", func(t *testing.T) {
		t.Parallel()
		c := ask(t, "GET / HTTP/1.1\r\nHost: x\r\nX-Much: "+strings.Repeat("x", 4*maxHeaderBytes)+"\r\n\r\n")
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		defer r.Body.Close()
		assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, r.StatusCode)
	})
}
