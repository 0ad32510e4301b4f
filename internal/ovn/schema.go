package ovn

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// convertTimeout bounds a conversion, which every member makes for itself before
// the next transaction; of a large database it takes seconds.
const convertTimeout = 2 * time.Minute

// NeedsConversion says whether the database that this unit's server serves has
// another schema than the packages bring.
func (f Files) NeedsConversion(ctx context.Context, d raft.Database) (bool, error) {
	out, err := f.client(ctx, fileTimeout, "needs-conversion", d)
	if err != nil {
		return false, fmt.Errorf("cannot compare the schema of %s with that of the packages: %w", d, err)
	}
	return strings.TrimSpace(out) == "yes", nil
}

// Convert brings the database to the schema of the packages, in the whole cluster
// at once. ovn-ctl does it only on a unit that has no remote to join through.
func (f Files) Convert(ctx context.Context, d raft.Database) error {
	if _, err := f.client(ctx, convertTimeout, "convert", d); err != nil {
		return fmt.Errorf("cannot convert %s to the schema of the packages: %w", d, err)
	}
	return nil
}

func (f Files) client(ctx context.Context, timeout time.Duration, command string, d raft.Database) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := f.Runner.Run(ctx, run.Command{Name: "ovsdb-client", Args: []string{command, "unix:" + f.Paths.Socket(d), f.Paths.Schema(d)}})
	return string(out), err
}
