package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
)

// leasePath is where one agent asks another.
const leasePath = "/lease"

// Bounds of a request: a client that is slower is cut off.
const (
	headerTimeout  = 2 * time.Second
	writeTimeout   = 2 * time.Second
	idleTimeout    = time.Minute
	maxHeaderBytes = 4 << 10
)

// servers are what listens.
type servers []*http.Server

func (s servers) close() {
	for _, one := range s {
		_ = one.Close()
	}
}

// serve listens at the address for this machine's programs, and at that for peers.
func (a *Agent) serve(ctx context.Context) (all servers, err error) {
	for _, at := range []string{a.config.Listen, a.config.PeerListen} {
		if at == "" {
			continue
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("cannot serve the API: %w", err)
		}
		l = newBounded(l)
		if at == a.config.PeerListen && a.config.Secure() {
			l = a.secured(l)
		}
		s := &http.Server{
			Handler: a.handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: writeTimeout,
			IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
		}
		all = append(all, s)
		go func() { _ = s.Serve(l) }() // it ends when it is closed
	}
	return all, nil
}

// handler is the API: read-only, and the same at both addresses.
func (a *Agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", a.serveName)
	mux.HandleFunc("/healthz", a.serveHealth)
	mux.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		d := a.document() // which may take seconds: what is left is the time of a client that reads slowly
		_ = http.NewResponseController(w).SetWriteDeadline(wall().Add(writeTimeout))
		answer(w, d)
	})
	mux.HandleFunc(report.Path, func(w http.ResponseWriter, _ *http.Request) { answer(w, a.status()) })
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

// serveName is the API of the leader election that document 003 describes, of
// kubernetes/contrib/election: an empty name is a holder that is not known.
func (a *Agent) serveName(w http.ResponseWriter, _ *http.Request) {
	answer(w, struct {
		Name string `json:"name"`
	}{a.status().Acting})
}

// serveHealth says whether the loop turns.
func (a *Agent) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if !a.healthy() {
		http.Error(w, "the agent's loop is stuck", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

func (a *Agent) healthy() bool {
	return a.now()-time.Duration(a.turned.Load()) < a.config.TTL
}

func (a *Agent) serveLease(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	said := a.election.Tell(a.now())
	a.mu.Unlock()
	answer(w, said)
}

func answer(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(document) // to a client that is gone
}
