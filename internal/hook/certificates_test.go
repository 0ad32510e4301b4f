package hook_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goal-state lists a relation before a unit joins it, and for seconds after it has left.
func TestCertificates_missing_relation_is_reported(t *testing.T) {
	const missing = "'certificates' missing"
	m := healthy()
	m.goal = `{"units":{"ovn-central/0":{"status":"active"}},` +
		`"relations":{"certificates":{"vault":{"status":"joined"},"vault/0":{"status":"active"}}}}`
	for _, name := range []string{"install", "config-changed", "update-status"} {
		require.NoError(t, m.run(t, name))
		assert.NotContains(t, m.status, missing, "%s: the unit has not joined it yet", name)
	}
	m.certificates = []string{"certificates:3"}
	require.NoError(t, m.run(t, "config-changed"))
	assert.NotContains(t, m.status, missing)

	m.gone = "certificates:3"
	require.NoError(t, m.run(t, "certificates-relation-broken"))
	assert.Contains(t, m.status, missing)
	m.gone, m.certificates = "", nil
	for _, name := range []string{"update-status", "config-changed", "update-status"} {
		require.NoError(t, m.run(t, name))
		assert.Contains(t, m.status, missing, name)
	}

	m.certificates = []string{"certificates:4"}
	require.NoError(t, m.run(t, "config-changed"))
	assert.NotContains(t, m.status, missing)

	m.certificates = nil
	m.goal = dying
	require.NoError(t, m.run(t, "update-status"))
	assert.NotContains(t, m.status, missing, "Juju removes the relations before the unit")
}

// goal-state omits relations in which another model's application consumes an offer.
func TestCertificates_cross_model_relation_is_remembered(t *testing.T) {
	const missing = "'certificates' missing"
	m := healthy()
	m.certificates = []string{"certificates:3"}
	settled := func(r sections) { r["unit"]["settled"] = true }
	require.NoError(t, m.run(t, "config-changed"))
	for range 2 {
		m.recorded(t, settled)
		require.NoError(t, m.run(t, "update-status"))
		assert.NotContains(t, m.status, missing)
	}

	m.gone = "certificates:3"
	require.NoError(t, m.run(t, "certificates-relation-broken"))
	assert.Contains(t, m.status, missing)
	m.gone, m.certificates = "", nil
	m.recorded(t, settled)
	require.NoError(t, m.run(t, "update-status"))
	assert.Contains(t, m.status, missing)
}
