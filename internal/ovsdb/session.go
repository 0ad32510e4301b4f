package ovsdb

import (
	"context"

	"github.com/cenkalti/rpc2"
	"github.com/ovn-org/libovsdb/ovsdb"
)

// transactor runs transactions on one database: a client of the library, or a session.
type transactor interface {
	Transact(ctx context.Context, ops ...ovsdb.Operation) ([]ovsdb.OperationResult, error)
	Close()
}

// session is a connection for a few transactions with known columns. A client of the library first reads the schema:
// for OVN's databases that takes longer than the transactions.
type session struct {
	rpc *rpc2.Client
	db  string
}

// maxSessionAnswer limits an answer, in bytes. The longest one has external_ids of NB_Global: they have less than 1 KiB
// for each cordoned or drained node, and the name of each gateway on a cordoned one. The server may be another unit's.
// Empty rows take 70 times the length of their text in memory.
const maxSessionAnswer = 8 << 20

// session connects to the first of the endpoints that serves the database.
func (d *Dialer) session(ctx context.Context, db string, endpoints ...string) (*session, error) {
	return connect(ctx, endpoints, func(ctx context.Context, endpoint string) (*session, error) {
		conn, err := d.dial(ctx, endpoint)
		if err != nil {
			return nil, err
		}
		s := &session{rpc2.NewClientWithCodec(conn), db}
		s.rpc.Limit(maxSessionAnswer)
		s.rpc.Handle("echo", func(_ *rpc2.Client, params []any, reply *[]any) error {
			*reply = params
			return nil
		})
		go s.rpc.Run()
		// An empty transaction fails if the server does not serve the database.
		if _, err := s.Transact(ctx); err != nil {
			s.Close()
			return nil, err
		}
		return s, nil
	})
}

// Transact runs one transaction, and returns a result for each operation.
func (s *session) Transact(ctx context.Context, ops ...ovsdb.Operation) (all []ovsdb.OperationResult, err error) {
	err = s.rpc.CallWithContext(ctx, "transact", ovsdb.NewTransactArgs(s.db, ops...), &all)
	return all, err
}

// Close ends the connection.
func (s *session) Close() { _ = s.rpc.Close() }
