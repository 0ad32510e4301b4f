package observe

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Global opens NB_Global or SB_Global of d at the endpoints, within the time that a
// database of its size is given; the caller closes it.
func (s *Machine) Global(ctx context.Context, d ovndb.Database, endpoints ...string) (*ovsdb.Global, error) {
	ctx, cancel := context.WithTimeout(ctx, s.StorePatience(d))
	defer cancel()
	return s.Dialer.Global(ctx, d, endpoints...)
}

// StorePatience is how long one read or write of the lock may take.
func (s *Machine) StorePatience(d ovndb.Database) time.Duration {
	return s.Patience(d, StoreTimeout)
}
