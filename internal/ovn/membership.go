package ovn

import (
	"context"
	"errors"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Address is the Raft address in the file of database d.
func (f Files) Address(ctx context.Context, d raft.Database) (string, error) {
	return f.tool(ctx, "db-local-address", f.Paths.File(d))
}

// Damaged says why no server could load the file of database d; empty where one
// could. It only reads, also under a server that runs.
func (f Files) Damaged(ctx context.Context, d raft.Database) (string, error) {
	_, err := f.tool(ctx, "check-cluster", f.Paths.File(d))
	if failed := (*run.Error)(nil); errors.As(err, &failed) && failed.ExitCode > 0 {
		reason, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
		return reason, nil
	}
	return "", err
}

// Outside says whether the configuration in the file of database d lacks the
// file's own server. A server that was killed while it joined can leave such a
// file: it got the log before it was a member. No server ever starts on it
// ("server does not belong to cluster", raft_start() in ovsdb/raft.c).
func (f Files) Outside(ctx context.Context, d raft.Database) (bool, error) {
	out, err := f.tool(ctx, "check-cluster", f.Paths.File(d))
	if failed := (*run.Error)(nil); errors.As(err, &failed) {
		if failed.ExitCode < 0 {
			return false, err
		}
		out += failed.Stderr
	}
	return strings.Contains(out, "not found in server list"), nil
}
