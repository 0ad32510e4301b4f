package agent

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Limits of a request; slower clients are cut off.
const (
	headerTimeout  = 2 * time.Second
	writeTimeout   = 2 * time.Second
	idleTimeout    = 3 * time.Second
	maxHeaderBytes = 4 << 10
)

// listenRetry is the pause between attempts to listen.
const listenRetry = time.Second

// httpServers are the servers of the agent's API.
type httpServers struct {
	all    []*http.Server
	socket string // the socket for root; empty if there is none
	end    context.CancelFunc
	ends   sync.WaitGroup
}

// add serves on l. If l is nil, it serves on the listener that again returns; if that is nil too, the agent is ending.
func (s *httpServers) add(one *http.Server, l net.Listener, again func() net.Listener) {
	s.all = append(s.all, one)
	s.ends.Go(func() {
		if l == nil {
			l = again()
		}
		if l != nil {
			_ = one.Serve(l) // returns when the server is closed
		}
	})
}

// close stops the servers, and returns when none listens any more.
func (s *httpServers) close() {
	s.end()
	for _, one := range s.all {
		_ = one.Close()
	}
	s.ends.Wait()
	_ = os.Remove(s.socket)
}

func (a *Agent) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
}

// serve listens at the address for this machine's programs, at the address for peers, and on the socket for root.
//
// Any user's program can take the first address while no agent runs. Then the agent works without it, reports that, and
// tries again. It does not work without the address for peers: holding that address keeps another process of this unit
// from acting.
func (a *Agent) serve(ctx context.Context) (*httpServers, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &httpServers{end: cancel, socket: a.config.Socket}
	for _, at := range []string{a.config.Listen, a.config.PeerListen} {
		if at == "" {
			continue
		}
		l, err := a.listen(ctx, at)
		if err != nil && (at != a.config.Listen || !errors.Is(err, syscall.EADDRINUSE)) {
			s.close()
			return nil, fmt.Errorf("cannot serve the API: %w", err)
		}
		s.add(a.server(a.handler()), l, func() net.Listener { return a.awaitAddress(ctx, at, err) })
	}
	a.serveOperations(ctx, s)
	return s, nil
}

func (a *Agent) listen(ctx context.Context, at string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	l = newBounded(l)
	if at == a.config.PeerListen && a.config.Secure() {
		l = a.secured(l)
	}
	return l, nil
}

// awaitAddress listens at the address for this machine's programs as soon as it is free. It returns nil if ctx is done.
func (a *Agent) awaitAddress(ctx context.Context, at string, err error) net.Listener {
	a.setTaken(at)
	a.log.Error("another program has the address of the API for this machine's programs; "+
		"what answers there is not the agent", "error", err)
	l := listenAgain(ctx, func() (net.Listener, error) { return a.listen(ctx, at) })
	if l != nil {
		a.log.Info("the API for this machine's programs can be served again", "address", at)
		a.setTaken("")
	}
	return l
}

// listenAgain calls listen until it succeeds. It returns nil if ctx is done.
func listenAgain(ctx context.Context, listen func() (net.Listener, error)) (l net.Listener) {
	_ = poll.Until(ctx, listenRetry, func() (err error) {
		l, err = listen()
		return err
	})
	return l
}

// setTaken stores the address that another program has taken; it is empty if there is none.
func (a *Agent) setTaken(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen.status.TakenAddress = address
}

// handler serves the API: read-only, and the same at both addresses.
func (a *Agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", a.serveName)
	mux.HandleFunc("/healthz", a.serveHealth)
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		d := a.document() // may take seconds; a slow reader gets the full write timeout
		_ = http.NewResponseController(w).SetWriteDeadline(wall().Add(writeTimeout))
		respond(w, http.StatusOK, d)
	})
	mux.HandleFunc(report.Path, a.serveStatus)
	mux.Handle("/metrics", a.metricsHandler())
	mux.HandleFunc(leasePath, a.serveLease)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// serveName serves the leader election API of document 003, which is the API of kubernetes/contrib/election. An empty
// name means that the holder is not known.
func (a *Agent) serveName(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, struct {
		Name string `json:"name"`
	}{a.status().Acting})
}

func (a *Agent) serveStatus(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, a.status())
}

func (a *Agent) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if a.now()-time.Duration(a.stepped.Load()) >= a.config.TTL {
		http.Error(w, "the agent's loop is stuck", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

func (a *Agent) serveLease(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	said := a.election.Answer(a.now())
	a.mu.Unlock()
	respond(w, http.StatusOK, said)
}

func respond(w http.ResponseWriter, code int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(document) // an error means that the client is gone
}

// Limits of concurrent connections, in total and per address. They keep a client with many connections from blocking
// another agent's question.
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

// secured uses TLS on each connection, with the certificate that is current when the connection is made.
func (a *Agent) secured(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return a.dialer.ServerTLS() },
	})
}

// dialPeer connects to another agent. Like the database servers, it checks the certificate's chain but no name. A false
// answer can't make two agents act, since each write requires the record.
func (a *Agent) dialPeer(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := a.dialer.ClientTLS()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return (&tls.Dialer{Config: c}).DialContext(ctx, network, address)
}
