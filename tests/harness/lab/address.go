package lab

import (
	"context"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// SetAddress changes the addresses of a unit's machine, of either family; the
// first is the one that Juju prefers. One with a length, as 10.99.0.5/32, is in a network
// of its own. The machine keeps those that it had: its
// servers may be bound to them ([Lab.LoseAddress]). The unit runs config-changed, and what Juju
// itself puts on relations follows.
func (l *Lab) SetAddress(ctx context.Context, u *Unit, addresses ...string) error {
	for _, address := range addresses {
		if err := u.Machine.AddAddress(ctx, address); err != nil {
			return fmt.Errorf("cannot change the addresses of %s: %w", u.name, err)
		}
	}
	l.model.Do(func(s *model.State) { s.SetAddresses(u.name, addresses) })
	return l.settleStarted(ctx)
}

// LoseAddress takes an address from a unit's machine, of which Juju has yet to learn ([Lab.SetAddress]).
func (l *Lab) LoseAddress(ctx context.Context, u *Unit, address string) error {
	return u.Machine.DropAddress(ctx, address)
}

// Bind puts an endpoint into a space where the unit has these addresses:
// network-get of that endpoint says them, and of others still those of the
// machine.
func (l *Lab) Bind(ctx context.Context, u *Unit, endpoint string, addresses ...string) error {
	l.model.Do(func(s *model.State) { s.Bind(u.name, endpoint, addresses) })
	return l.settleStarted(ctx)
}
