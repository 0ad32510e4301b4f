package steps

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Schemas compares the databases' schemas with those of the packages. It is used during one hook.
type Schemas struct {
	// NeedsConversion asks the server and reads the packages' schema.
	NeedsConversion func(ctx context.Context, db ovndb.Database) (bool, error)
	State           *unitstate.State
	Log             *slog.Logger
	// found has the results of this hook.
	found map[ovndb.Database]plan.Drift
}

// keptSchemas is the stored state.
type keptSchemas struct {
	// Compared has, for each database, the packages and the term of this unit's own leadership for which the
	// schema was last found to be current.
	Compared map[ovndb.Database]string `json:"compared,omitempty"`
}

var schemas = unitstate.NewSection[keptSchemas]("schemas")

// Forget makes this hook compare the schemas again.
func (m *Schemas) Forget(databases ...ovndb.Database) {
	for _, db := range databases {
		delete(m.found, db)
	}
}

// Drift compares the schema of a database with that of the installed packages. If that fails, it reports no difference.
//
// The result is stored for as long as the packages stay the same: only they bring a newer schema. A member compares
// again in each term in which it is the leader, since the leader converts, and as the leader in each thorough hook.
// term is 0 if it isn't the leader.
func (m *Schemas) Drift(
	ctx context.Context, db ovndb.Database, installed ovndb.Version, term uint64, thorough bool,
) plan.Drift {
	if drift, known := m.found[db]; known {
		return drift
	}
	leads := term != 0
	compared := installed.String()
	if leads {
		compared += fmt.Sprintf(" term %d", term)
	}
	last := schemas.Get(m.State)
	if last.Compared[db] == compared && !(leads && thorough) {
		return plan.InSync
	}
	needed, err := m.NeedsConversion(ctx, db)
	if err != nil {
		m.Log.WarnContext(ctx, "cannot compare the schema", "database", db.Short(), "error", err)
		return ""
	}
	if m.found == nil {
		m.found = map[ovndb.Database]plan.Drift{}
	}
	if m.found[db] = plan.Drifted; needed {
		return plan.Drifted
	}
	m.found[db] = plan.InSync
	if last.Compared == nil {
		last.Compared = map[ovndb.Database]string{}
	}
	last.Compared[db] = compared
	_ = schemas.Set(m.State, last) // texts only
	return plan.InSync
}
