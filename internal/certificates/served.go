package certificates

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Dialer connects to servers with the unit's certificate.
type Dialer interface {
	// Server asks the server at the endpoints for its state.
	Server(ctx context.Context, db ovndb.Database, endpoints ...string) (ovsdb.ServerState, error)
	// Forget reads the certificate again.
	Forget()
}

const (
	// clientTimeout limits the check of one of this unit's own client ports.
	clientTimeout = 2 * time.Second
	// reloadPatience is how long servers may take to load new certificates, which takes one turn of their main loop.
	reloadPatience = 5 * time.Second
	// pollInterval is the time between two checks.
	pollInterval = 25 * time.Millisecond
)

// Served returns nil if this unit's own client ports answer over TLS; without ports, all of the database's.
func (m *Manager) Served(ctx context.Context, db ovndb.Database, address netip.Addr, ports ...uint16) error {
	if len(ports) == 0 {
		ports = ovndb.ClientPorts(db)
	}
	for _, port := range ports {
		if err := m.answers(ctx, db, "ssl:"+netip.AddrPortFrom(address, port).String()); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) answers(ctx context.Context, db ovndb.Database, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	_, err := m.Dialer.Server(ctx, db, endpoint)
	return err
}

// Reload makes the server read its certificate again, and returns nil once it answers. A server that was started while
// the files were being replaced has no certificate until then.
func (m *Manager) Reload(ctx context.Context, db ovndb.Database, address netip.Addr) error {
	if err := m.credentials().Touch(); err != nil {
		return err
	}
	m.Dialer.Forget()
	return m.await(ctx, clientTimeout, db, address)
}

func (m *Manager) await(ctx context.Context, patience time.Duration, db ovndb.Database, address netip.Addr) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll.Until(ctx, pollInterval, func() error { return m.Served(ctx, db, address) })
}

// awaitServed returns once the servers answer with the new files.
func (m *Manager) awaitServed(ctx context.Context, address netip.Addr, served []ovndb.Database) error {
	for _, db := range served {
		err := m.await(ctx, reloadPatience, db, address)
		if err != nil {
			err = m.Reload(ctx, db, address)
		}
		if err != nil {
			return fmt.Errorf("the servers do not answer with the new certificate: %w", err)
		}
	}
	return nil
}
