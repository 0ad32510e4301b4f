package lab

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Addresses in the lab's network: the hub has the first, unit n has .10+n. All labs have the same: they are isolated.
const (
	network      = "10.99.0"
	network6     = "fd99::"
	firstHost    = 10
	lastHost     = 254
	reservedHost = 1
)

func address4(host int) string { return fmt.Sprintf("%s.%d", network, host) }

// address6 has the decimal digits of the host's number.
func address6(host int) string { return fmt.Sprintf("%s%d", network6, host) }

func (l *Lab) bootHub(ctx context.Context) error {
	l.hub = &machine.Machine{
		Dir: filepath.Join(l.o.Dir, machine.HubDir), Lab: l.o.Dir, Address: address4(reservedHost),
	}
	if l.o.IPv6 {
		l.hub.Others = []string{address6(reservedHost)}
	}
	if err := machine.Create(l.hub, l.program); err != nil {
		return err
	}
	return l.hub.Boot(ctx, l.program)
}

// Exec runs a program in the hub's network, which reaches all units. OVN's clients get [Lab.ClientCredentials].
func (l *Lab) Exec(ctx context.Context, name string, args ...string) (string, error) {
	return l.execOn(ctx, l.hub, "the hub", name, args)
}

// HubNamespace returns the file with which nsenter(1) or setns(2) enters the hub's network.
func (l *Lab) HubNamespace() (string, error) { return l.hub.Namespace() }

// SetAddress sets the addresses of a unit's machine; Juju prefers the first. An address with a length, such as
// 10.99.0.5/32, has its own network. The machine keeps its old addresses, to which servers may be bound
// ([Lab.LoseAddress]). The unit runs config-changed, and Juju updates its relation data.
func (l *Lab) SetAddress(ctx context.Context, u *Unit, addresses ...string) error {
	for _, address := range addresses {
		if err := u.Machine.AddAddress(ctx, address); err != nil {
			return fmt.Errorf("cannot change the addresses of %s: %w", u.name, err)
		}
	}
	l.model.Do(func(s *model.State) { s.SetAddresses(u.name, addresses) })
	return l.settleStarted(ctx)
}

// LoseAddress removes an address from a unit's machine before Juju knows ([Lab.SetAddress]).
func (l *Lab) LoseAddress(ctx context.Context, u *Unit, address string) error {
	return u.Machine.DropAddress(ctx, address)
}

// Bind puts an endpoint into a space, in which network-get shows these addresses of the unit.
func (l *Lab) Bind(ctx context.Context, u *Unit, endpoint string, addresses ...string) error {
	l.model.Do(func(s *model.State) { s.Bind(u.name, endpoint, addresses) })
	return l.settleStarted(ctx)
}
