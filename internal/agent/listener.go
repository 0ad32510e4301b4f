package agent

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits of connections at once, in total and per address, so that a client with many connections does not keep another
// agent from asking.
const (
	maxConnections      = 256
	maxConnectionsOfOne = 64
)

// dialTimeout bounds a connection to another agent.
const dialTimeout = 2 * time.Second

// bounded closes excess connections at once.
type bounded struct {
	net.Listener
	mu  sync.Mutex
	all int
	of  map[netip.Addr]int
}

func newBounded(l net.Listener) *bounded { return &bounded{Listener: l, of: map[netip.Addr]int{}} }

// Accept implements [net.Listener].
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := netip.Addr{}
		if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			from = tcp.AddrPort().Addr()
		}
		b.mu.Lock()
		full := b.all >= maxConnections || b.of[from] >= maxConnectionsOfOne
		if !full {
			b.all++
			b.of[from]++
		}
		b.mu.Unlock()
		if !full {
			return &counted{Conn: c, release: sync.OnceFunc(func() { b.release(from) })}, nil
		}
		_ = c.Close()
	}
}

func (b *bounded) release(from netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all--
	if b.of[from]--; b.of[from] == 0 {
		delete(b.of, from)
	}
}

// counted is a connection that frees its place when it is closed.
type counted struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	c.release()
	return c.Conn.Close()
}

// secured uses TLS on each connection, with the certificate that is current then.
func (a *Agent) secured(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return a.dialer.ServerTLS() },
	})
}

// dialPeer connects to another agent. It checks the certificate's chain but no name, as the database servers do. A
// false answer can't make two agents act, since each change waits for the record.
func (a *Agent) dialPeer(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := a.dialer.ClientTLS()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return (&tls.Dialer{Config: c}).DialContext(ctx, network, address)
}
