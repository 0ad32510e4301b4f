package membership_test

import (
	"context"
	"os/exec"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

type missing struct{}

func (missing) Run(_ context.Context, c run.Command) ([]byte, error) {
	return nil, &run.Error{Command: c, ExitCode: -1, Err: exec.ErrNotFound}
}
