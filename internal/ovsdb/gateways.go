package ovsdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Gateways is a connection to both databases. It reads gateways and writes candidates. It does not reconnect.
type Gateways struct {
	nb, sb client.Client
	fence  []ovsdb.Operation
}

// Gateways connects to the leader of each database, or otherwise to another server among its endpoints. The caller
// closes the connection.
func (d *Dialer) Gateways(ctx context.Context, nb, sb []string) (*Gateways, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var (
		g   Gateways
		err error
	)
	half, cancel := context.WithTimeout(ctx, connectTimeout/2)
	defer cancel()
	if g.nb, err = d.database(half, ovndb.NB, d.preferred(half, ovndb.NB, nb)...); err != nil {
		return nil, err
	}
	if g.sb, err = d.database(ctx, ovndb.SB, d.preferred(ctx, ovndb.SB, sb)...); err != nil {
		g.nb.Close()
		return nil, err
	}
	return &g, nil
}

// Close ends the connections.
func (g *Gateways) Close() {
	g.nb.Close()
	g.sb.Close()
}

// read reads rows of one of the databases in one transaction.
func (g *Gateways) read(ctx context.Context, db client.Client, queries ...query) ([][]row, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return read(ctx, db, queries...)
}

// ErrUninitialized is returned if NB has no NB_Global row: the first client that uses NB makes it.
var ErrUninitialized = errors.New("NB_Global has no row yet: ovn-northd makes it once it runs, " +
	"and so does ovn-nbctl init")

// global returns the UUID of the only row of NB_Global.
func (g *Gateways) global(ctx context.Context) (string, error) {
	answers, err := g.read(ctx, g.nb, query{table: ovndb.NB.GlobalTable()})
	if err != nil {
		return "", err
	}
	switch len(answers[0]) {
	case 0:
		return "", ErrUninitialized
	case 1:
	default:
		return "", fmt.Errorf("NB_Global has %d rows", len(answers[0]))
	}
	return answers[0][0].uuid(), nil
}
