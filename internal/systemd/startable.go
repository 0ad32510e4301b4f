package systemd

import (
	"context"
	"errors"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// ErrNotStartable is the error for a service that is masked or not installed.
var ErrNotStartable = errors.New("the service can't be started again")

// MakeStartable returns [ErrNotStartable] if systemd would not start the service: a restart by
// systemctl stops a service before it finds that it is masked. MakeStartable removes a mask that lasts
// until the next boot, which an interrupted upgrade leaves.
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
