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

// Schemas are the versions of a database's schema.
type Schemas struct {
	// Served is that which this unit's server serves, Packages the one that the packages
	// bring, as X.Y.Z (RFC 7047, section 3.1).
	Served, Packages string
	// Older and Newer say how what is served compares.
	Older, Newer bool
}

// Schemas compares the schema that this unit's server serves with that of the packages.
func (f Files) Schemas(ctx context.Context, d ovndb.Database) (Schemas, error) {
	served, err := f.servedSchema(ctx, d)
	if err != nil {
		return Schemas{}, fmt.Errorf("cannot find the version of the schema of %s: %w", d, err)
	}
	text, err := f.SchemaVersion(d)
	if err != nil {
		return Schemas{}, fmt.Errorf("cannot find the version of the packages' schema of %s: %w", d, err)
	}
	brought, err := ovndb.ParseSchemaVersion(text)
	if err != nil {
		return Schemas{}, fmt.Errorf("cannot find the version of the packages' schema of %s: %w", d, err)
	}
	return Schemas{
		Served: served.String(), Packages: brought.String(), Older: served.Before(brought),
		Newer: brought.Before(served),
	}, nil
}

// NeedsConversion reports whether the database that this unit's server serves has an
// older schema than the packages bring. One that is newer stays as it is, as with
// ovn-ctl (upgrade_cluster in OVS's ovs-lib): to convert it back would throw away
// what older programs do not know.
func (f Files) NeedsConversion(ctx context.Context, d ovndb.Database) (bool, error) {
	schemas, err := f.Schemas(ctx, d)
	return schemas.Older, err
}

// Convert brings the database to the schema of the packages, in the whole cluster
// at once. ovn-ctl does it only on a unit that has no remote to join through. What is
// under way ends with ctx: the server drops it with the connection. Where this process
// is killed, ovsdb-client ends by its own timeout.
func (f Files) Convert(ctx context.Context, d ovndb.Database, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	own := fmt.Sprintf("--timeout=%d", timeout/time.Second+1)
	_, err := f.Runner.Run(ctx, run.Command{
		Name: "ovsdb-client",
		Args: []string{own, "convert", "unix:" + f.Paths.Socket(d), f.Paths.Schema(d)},
	})
	if err != nil {
		return fmt.Errorf("cannot convert %s to the schema of the packages: %w", d, err)
	}
	return nil
}

// SchemaVersion is that of the schema that the packages bring for database d.
func (f Files) SchemaVersion(d ovndb.Database) (string, error) {
	return raftfile.SchemaVersion(f.Paths.Schema(d))
}

// servedSchema asks the server; a program is started only if that fails, and tells why.
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
