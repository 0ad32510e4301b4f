package ovsctl

import (
	"context"
	"errors"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Address is the Raft address in the file of database d.
func (f Files) Address(ctx context.Context, d ovndb.Database) (string, error) {
	head, err := f.head(ctx, f.Paths.File(d))
	return head.Address, err
}

// Damaged returns why no server could load the file of database d; empty if one
// could. It only reads, also under a server that runs.
func (f Files) Damaged(ctx context.Context, d ovndb.Database) (string, error) {
	_, err := f.tool(ctx, "check-cluster", f.Paths.File(d))
	if failed := (*run.Error)(nil); errors.As(err, &failed) && failed.ExitCode > 0 {
		reason, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
		return reason, nil
	}
	return "", err
}

// Joined reports whether the file of database d may be a member's: its server has neither
// left nor yet to join. What can't be read may be one's. Source: ovsdb-tool's
// do_check_cluster() in ovsdb/ovsdb-tool.c.
func (f Files) Joined(ctx context.Context, d ovndb.Database) (bool, error) {
	out, err := f.tool(ctx, "check-cluster", f.Paths.File(d))
	if failed := (*run.Error)(nil); errors.As(err, &failed) {
		if failed.ExitCode < 0 {
			return true, err
		}
		out += failed.Stderr
	}
	for _, other := range []string{"has not joined the cluster", "not found in server list", "left the cluster"} {
		if strings.Contains(out, other) {
			return false, nil
		}
	}
	return true, nil
}
