package systemd

import (
	"context"
	"errors"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// ErrNotStartable is returned for a service that systemd would not start again: it is
// masked, or not installed.
var ErrNotStartable = errors.New("the service can't be started again")

// MakeStartable says with [ErrNotStartable] that systemd would not start the service: systemctl's
// restart stops one that it then finds masked. A mask that lasts until the next boot is one that
// an upgrade has left which was killed ([Packages]), and is taken away.
func (s Services) MakeStartable(ctx context.Context, service ovndb.Service) error {
	states, err := s.States(ctx)
	if err != nil {
		return err
	}
	switch state := states[service]; {
	case state.Enabled == "masked-runtime":
		return s.Release(ctx, service)
	case state.Masked:
		return fmt.Errorf("%w: %s is masked", ErrNotStartable, service)
	case state.Missing:
		return fmt.Errorf("%w: %s is not installed", ErrNotStartable, service)
	}
	return nil
}
