// Package ovsdb talks to OVSDB servers. It is the only importer of libovsdb, and
// keeps to what that library does reliably: one short-lived client for each
// purpose, every call with a deadline, no reconnection and no inactivity probe
// of the library's own (both can deadlock in v0.7.0), no lock. The library reads what
// servers send by the package in internal/rpc2, which bounds it; an answer that the library
// panics at is an error.
package ovsdb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/rpc2"
	"github.com/go-logr/logr"
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

// defaultTimeout bounds a connection, or a transaction, whose context has no deadline.
const defaultTimeout = 10 * time.Second

// Endpoints are where the clients of a member are served, best first, given its
// Raft address: the host is the same, and the protocol.
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

// connect returns a connected client of the database that m models, at the first
// of the endpoints that serves it. Each may take its share of the time that is
// left: one that hangs, or drops what it is sent, does not use up the others'.
func (d *Dialer) connect(ctx context.Context, m model.ClientDBModel, endpoints ...string) (client.Client, error) {
	if len(endpoints) == 0 {
		return nil, errors.New("cannot connect: no endpoint is known")
	}
	var failures []error
	for i, endpoint := range endpoints {
		share, cancel := shareOf(ctx, len(endpoints)-i)
		c, err := d.connectOne(share, m, endpoint)
		if late := share.Err(); err != nil && late != nil {
			err = fmt.Errorf("%w: %w", late, err) // the library drops it
			if errors.Is(late, context.DeadlineExceeded) {
				err = reworded{err, "no answer before the deadline"}
			}
		}
		cancel()
		if err == nil {
			return c, nil
		}
		failures = append(failures, fmt.Errorf("cannot connect to %s: %w", endpoint, err))
	}
	return nil, errors.Join(failures...)
}

func shareOf(ctx context.Context, among int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, defaultTimeout)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(among))
}

func (d *Dialer) connectOne(ctx context.Context, m model.ClientDBModel, endpoint string) (_ client.Client, err error) {
	quiet := logr.Discard() // else the library writes to stderr
	options := []client.Option{client.WithEndpoint(endpoint), client.WithLogger(&quiet)}
	if strings.HasPrefix(endpoint, "ssl:") {
		config, err := d.tls()
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
	if err := connected(held, c); err != nil {
		if refused := new(net.OpError); errors.As(err, &refused) && refused.Op == "dial" {
			return nil, refused.Err // the library and net name the endpoint again, three times
		}
		return nil, reworded{err, strings.TrimPrefix(err.Error(), "failed to connect to "+endpoint+": ")}
	}
	return c, nil
}

// connected connects. An answer that the library panics at is an error.
func connected(ctx context.Context, c client.Client) (err error) {
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	defer recovered(&err)
	return c.Connect(ctx)
}

// recovered makes an error of a panic. The library panics at answers that are not those of
// a database: in the caller's goroutine too, beside those in which rpc2 recovers.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the server has answered wrongly: %v", p)
	}
}

// monitor asks for a monitor.
func monitor(ctx context.Context, c client.Client, options ...client.MonitorOption) (err error) {
	defer recovered(&err)
	_, err = c.Monitor(ctx, c.NewMonitor(options...))
	return err
}

// reworded is an error under a text of its own.
type reworded struct {
	error
	text string
}

func (e reworded) Error() string { return e.text }

// Unwrap gives the error as it was.
func (e reworded) Unwrap() error { return e.error }

// ClientTLS is how the unit speaks to servers of its CA, with its own certificate. It
// is read again after [Dialer.Forget].
func (d *Dialer) ClientTLS() (*tls.Config, error) { return d.tls() }

// ServerTLS is how the unit serves clients that have a certificate of its CA.
func (d *Dialer) ServerTLS() (*tls.Config, error) {
	c, err := d.tls()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: c.Certificates, ClientCAs: c.RootCAs,
		ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}

// tls trusts what Open vSwitch trusts: a certificate of the CA, whatever names
// stand in it (ovsdb-server(1), "SSL/TLS options"; stream-ssl.c checks no name).
func (d *Dialer) tls() (*tls.Config, error) {
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

// send runs one transaction, and waits for its results no longer than
// [defaultTimeout] where ctx has no deadline: a server that hangs, or that lost its
// quorum, may never answer.
func send(ctx context.Context, c client.Client, ops ...ovsdb.Operation) (results []ovsdb.OperationResult, err error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, defaultTimeout)
		defer cancel()
	}
	defer recovered(&err)
	results, err = c.Transact(ctx, ops...)
	if err == nil && len(results) < len(ops) {
		err = fmt.Errorf("the server has answered %d of %d operations", len(results), len(ops))
	}
	return results, err
}

// transact runs one transaction; an operation that failed is an error.
func transact(ctx context.Context, c client.Client, ops ...ovsdb.Operation) ([]ovsdb.OperationResult, error) {
	results, err := send(ctx, c, ops...)
	if err != nil {
		return nil, err
	}
	if failed, err := ovsdb.CheckOperationResults(results, ops); err != nil {
		for _, f := range failed {
			return nil, fmt.Errorf("%w: %s", err, foreign.Reason(f.Error()))
		}
		return nil, err
	}
	return results, nil
}

// detail is why an operation failed, as the server says it: that may have values of rows in it.
func detail(r ovsdb.OperationResult) string {
	return foreign.Reason(r.Error + ": " + r.Details)
}
