package labtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Schemas are the versions of the schemas that these units' servers serve.
func (m *Model) Schemas(units ...*lab.Unit) (all []string) {
	m.T.Helper()
	for _, u := range units {
		for _, db := range lab.Databases {
			socket := "unix:" + u.RunDir() + "/ovn" + string(db) + "_db.sock"
			out, err := u.Exec(m.T.Context(), "ovsdb-client", "--timeout=10", "--no-leader-only", "get-schema-version", socket, db.Schema())
			require.NoError(m.T, err)
			all = append(all, strings.TrimSpace(out))
		}
	}
	return all
}

// Converted reports whether these units' servers serve the newer schemas.
func (m *Model) Converted(units ...*lab.Unit) bool {
	m.T.Helper()
	return !slices.ContainsFunc(m.Schemas(units...), func(v string) bool { return v != lab.NewerSchema })
}

// OfferUpgrade has the next source bring a newer version with newer schemas.
func (m *Model) OfferUpgrade(units ...*lab.Unit) {
	m.T.Helper()
	m.Offer("99.1.0-1", units...)
	for _, u := range units {
		require.NoError(m.T, u.OfferSchemas())
	}
}
