// Package ovsdb talks to OVSDB servers. It is the only importer of libovsdb, and uses the reliable parts of that
// library: one short-lived client for each purpose, and a deadline for every call. It does not use the library's
// reconnection and inactivity probe, which can both deadlock in v0.7.0, nor its locks. The library reads from servers
// through internal/rpc2, which limits messages. If an answer makes the library panic, the panic becomes an error.
package ovsdb

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/rpc2"
	"github.com/go-logr/logr"
	"github.com/ovn-org/libovsdb/cache"
	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Dialer makes connections. It is safe for concurrent use.
type Dialer struct {
	Credentials ovndb.Credentials
	mu          sync.Mutex
	config      *tls.Config
}

// Forget makes the next connection read the credentials again.
func (d *Dialer) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.config = nil
}

// defaultTimeout limits a connection or transaction whose context has no deadline.
const defaultTimeout = 10 * time.Second

// Endpoints returns the client endpoints of a member, best first. They have the host and protocol of its Raft address.
func Endpoints(d ovndb.Database, raftAddress string) []string {
	protocol, rest, ok := strings.Cut(raftAddress, ":")
	host, _, err := net.SplitHostPort(rest)
	if !ok || err != nil {
		return nil
	}
	at := func(port uint16) string { return protocol + ":" + net.JoinHostPort(host, strconv.Itoa(int(port))) }
	if d == ovndb.SB {
		return []string{at(ovndb.ManagementPort), at(ovndb.SouthboundPort)}
	}
	return []string{at(ovndb.NorthboundPort)}
}

// first returns the result of connect for the first of the endpoints at which it succeeds, or the errors of all. Each
// endpoint gets an equal share of the remaining time, so that a hanging server leaves time for the others.
func first[T any](
	ctx context.Context, endpoints []string, connect func(ctx context.Context, endpoint string) (T, error),
) (T, error) {
	failures := []error{}
	for i, endpoint := range endpoints {
		share, cancel := shareOf(ctx, len(endpoints)-i)
		c, err := connect(share, endpoint)
		cancel()
		if err == nil {
			return c, nil
		}
		failures = append(failures, err)
	}
	if len(endpoints) == 0 {
		failures = append(failures, errors.New("cannot connect: no endpoint is known"))
	}
	return *new(T), errors.Join(failures...)
}

// client returns a connected client of the database that m models, at the first of the endpoints that serves it.
func (d *Dialer) client(ctx context.Context, m model.ClientDBModel, endpoints ...string) (client.Client, error) {
	return connect(ctx, endpoints, func(ctx context.Context, endpoint string) (client.Client, error) {
		return d.clientAt(ctx, m, endpoint)
	})
}

// connect returns the result of dial for the first of the endpoints at which it succeeds, or errors for operators.
func connect[T any](
	ctx context.Context, endpoints []string, dial func(ctx context.Context, endpoint string) (T, error),
) (T, error) {
	return first(ctx, endpoints, func(ctx context.Context, endpoint string) (T, error) {
		c, err := dial(ctx, endpoint)
		if err == nil {
			return c, nil
		}
		if refused := new(net.OpError); errors.As(err, &refused) && refused.Op == "dial" {
			err = refused.Err // the library and net repeat the endpoint
		} else if ctx.Err() == nil {
			text := strings.TrimPrefix(err.Error(), "failed to connect to "+endpoint+": ")
			err = reworded{err, cmp.Or(mismatch(ctx, endpoint), explained(err, text))}
		}
		if ended := ctx.Err(); ended != nil {
			err = fmt.Errorf("%w: %w", ended, err) // the library drops this error
			if errors.Is(ended, context.DeadlineExceeded) {
				err = reworded{err, late(endpoint)}
			}
		}
		return c, fmt.Errorf("cannot connect to %s: %w", endpoint, err)
	})
}

// bounded adds [defaultTimeout] to a context without a deadline.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// shareOf limits a context to its share of the remaining time.
func shareOf(ctx context.Context, among int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return bounded(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(among))
}

func (d *Dialer) clientAt(ctx context.Context, m model.ClientDBModel, endpoint string) (client.Client, error) {
	quiet := logr.Discard() // by default the library writes to stderr
	options := []client.Option{client.WithEndpoint(endpoint), client.WithLogger(&quiet)}
	if strings.HasPrefix(endpoint, "ssl:") {
		config, err := d.ClientTLS()
		if err != nil {
			return nil, err
		}
		options = append(options, client.WithTLSConfig(config))
	}
	c, err := client.NewOVSDBClient(m, options...)
	if err != nil {
		return nil, err
	}
	held, release := rpc2.Hold(ctx)
	defer release()
	return c, connected(held, c)
}

// connected connects the client, or closes it.
func connected(ctx context.Context, c client.Client) (err error) {
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	defer recovered(&err)
	return c.Connect(ctx)
}

// recovered turns a panic into an error. The library panics in the caller's goroutine if an answer is not that of a
// database. rpc2 recovers panics in other goroutines.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the server has answered wrongly: %v", p)
	}
}

// monitor calls changed for each row that is added, updated or deleted; was or now is nil if there is no such row.
func monitor(ctx context.Context, c client.Client, changed func(was, now model.Model),
	options ...client.MonitorOption,
) (err error) {
	kept := c.Cache()
	if kept == nil {
		return errors.New("the connection is lost")
	}
	kept.AddEventHandler(&cache.EventHandlerFuncs{
		AddFunc:    func(_ string, now model.Model) { changed(nil, now) },
		UpdateFunc: func(_ string, was, now model.Model) { changed(was, now) },
		DeleteFunc: func(_ string, was model.Model) { changed(was, nil) },
	})
	defer recovered(&err)
	_, err = c.Monitor(ctx, c.NewMonitor(options...))
	return err
}

// wake makes the next receive succeed. The channel has room for one value.
func wake(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default: // a value is waiting already
	}
}

// reworded is an error with a different text.
type reworded struct {
	error
	text string
}

func (e reworded) Error() string { return e.text }

func (e reworded) Unwrap() error { return e.error }

// ServerTLS returns a server's TLS configuration. It requires clients to have a certificate of the unit's CA.
func (d *Dialer) ServerTLS() (*tls.Config, error) {
	c, err := d.ClientTLS()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: c.Certificates, ClientCAs: c.RootCAs,
		ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}

// ClientTLS returns a client's TLS configuration, with the unit's certificate. It is cached until [Dialer.Forget].
// Like Open vSwitch, it trusts every certificate of the CA, with any name (lib/stream-ssl.c checks no name).
func (d *Dialer) ClientTLS() (*tls.Config, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.config != nil {
		return d.config, nil
	}
	pair, err := tls.LoadX509KeyPair(d.Credentials.Certificate, d.Credentials.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot load the unit's certificate: %w", err)
	}
	pem, err := os.ReadFile(d.Credentials.CA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the CA's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", d.Credentials.CA)
	}
	d.config = &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: roots,
		InsecureSkipVerify: true, //nolint:gosec // the chain is verified below, only the name is not
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errors.New("the server has shown no certificate")
			}
			chain := x509.NewCertPool()
			for _, c := range state.PeerCertificates[1:] {
				chain.AddCert(c)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: chain})
			return err
		},
	}
	return d.config, nil
}

// send runs one transaction. Without a deadline in ctx, it waits for the results for at most [defaultTimeout]: a
// server that hangs or has no quorum may never answer.
func send(ctx context.Context, c transactor, ops ...ovsdb.Operation) (results []ovsdb.OperationResult, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	defer recovered(&err)
	results, err = c.Transact(ctx, ops...)
	if err == nil && len(results) < len(ops) {
		err = fmt.Errorf("the server has answered %d of %d operations", len(results), len(ops))
	}
	return results, err
}

// transact runs one transaction. It returns an error if an operation failed.
func transact(ctx context.Context, c transactor, ops ...ovsdb.Operation) ([]ovsdb.OperationResult, error) {
	results, err := send(ctx, c, ops...)
	if err != nil {
		return nil, err
	}
	failed, err := ovsdb.CheckOperationResults(results, ops)
	for _, f := range failed {
		return nil, fmt.Errorf("%w: %s", err, foreign.Reason(f.Error()))
	}
	return results, err
}

// ErrChanged is returned if a row has changed since it was read. Nothing was written.
var ErrChanged = errors.New("another client has changed it meanwhile")

// Errors of operations (RFC 7047).
const (
	waitFailed          = "timed out"
	constraintViolation = "constraint violation"
)

// commit runs one transaction. It returns [ErrChanged] if a wait failed; then nothing was written.
func commit(ctx context.Context, c transactor, ops ...ovsdb.Operation) ([]ovsdb.OperationResult, error) {
	results, err := send(ctx, c, ops...)
	if err != nil {
		return nil, err
	}
	switch i := failed(results); {
	case i < 0:
		return results, nil
	case results[i].Error == waitFailed:
		return results, ErrChanged
	default:
		return results, errors.New(detail(results[i]))
	}
}

// failed returns the index of the failed operation; -1 if there is none.
func failed(results []ovsdb.OperationResult) int {
	return slices.IndexFunc(results, func(r ovsdb.OperationResult) bool { return r.Error != "" })
}

// detail returns the server's reason for a failed operation. It may contain values of rows.
func detail(r ovsdb.OperationResult) string {
	return foreign.Reason(r.Error + ": " + r.Details)
}
