package ovsctl

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Schemas compares the schema that this unit's server serves with the one in the packages.
func (f Files) Schemas(ctx context.Context, d ovndb.Database) (s ovndb.Schemas, err error) {
	served, err := f.servedSchema(ctx, d)
	if err != nil {
		return s, fmt.Errorf("cannot find the version of the schema of %s: %w", d, err)
	}
	var packages ovndb.SchemaVersion
	text, err := f.SchemaVersion(d)
	if err == nil {
		packages, err = ovndb.ParseSchemaVersion(text)
	}
	if err != nil {
		return s, fmt.Errorf("cannot find the version of the packages' schema of %s: %w", d, err)
	}
	return ovndb.CompareSchemas(served, packages), nil
}

// NeedsConversion reports whether the served schema is older than the one in the packages. A newer schema stays, as
// with ovn-ctl (upgrade_cluster in OVS's ovs-lib): a conversion would lose data that older programs do not know.
func (f Files) NeedsConversion(ctx context.Context, d ovndb.Database) (bool, error) {
	schemas, err := f.Schemas(ctx, d)
	return schemas.Older, err
}

// Convert converts the database to the schema in the packages, in the whole cluster at once. If ctx ends, the
// connection ends and the server drops the conversion. If this process is killed, ovsdb-client's own timeout ends the
// connection.
func (f Files) Convert(ctx context.Context, d ovndb.Database, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	own := fmt.Sprintf("--timeout=%d", timeout/time.Second+1)
	args := []string{own, "convert", "unix:" + f.Paths.Socket(d), f.Paths.Schema(d)}
	if _, err := f.Runner.Run(ctx, run.Command{Name: "ovsdb-client", Args: args}); err != nil {
		return fmt.Errorf("cannot convert %s to the schema of the packages: %w", d, err)
	}
	return nil
}

// SchemaVersion returns the version of the schema of database d in the packages.
func (f Files) SchemaVersion(d ovndb.Database) (string, error) {
	return raftfile.SchemaVersion(f.Paths.Schema(d))
}

// servedSchema asks the server for the version. It starts a program only if that fails, to find the reason.
func (f Files) servedSchema(ctx context.Context, d ovndb.Database) (v ovndb.SchemaVersion, err error) {
	ctx, cancel := context.WithTimeout(ctx, raft.Patience(fileTimeout, raftfile.Size(f.Paths.File(d))))
	defer cancel()
	var head struct{ Version string }
	if err := call(ctx, f.Paths.Socket(d), "get_schema", []string{string(d)}, &head); err == nil {
		return ovndb.ParseSchemaVersion(head.Version)
	}
	args := []string{"--no-leader-only", "get-schema-version", "unix:" + f.Paths.Socket(d), string(d)}
	out, err := f.Runner.Run(ctx, run.Command{Name: "ovsdb-client", Args: args})
	if err != nil {
		return v, err
	}
	return ovndb.ParseSchemaVersion(string(out))
}
