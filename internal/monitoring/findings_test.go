package monitoring_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/monitoring"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

func TestFindingAlerts(t *testing.T) {
	t.Parallel()
	found := map[string]relation.AlertRule{}
	for _, g := range alertRules(t).Groups {
		for _, r := range g.Rules {
			require.NotContains(t, found, r.Alert)
			found[r.Alert] = r
			assert.NotRegexp(t, `(^|[^/])docs/`, r.Annotations["runbook"], "a path in the repository")
		}
	}
	alerts := 0
	for _, e := range finding.Catalogue() {
		name := monitoring.AlertName(e.Code)
		r, there := found[name]
		require.Equal(t, e.For > 0, there, name)
		if !there {
			continue
		}
		alerts++
		assert.Contains(t, r.Expr, `code="`+string(e.Code)+`"`)
		assert.Equal(t, page(e.Code), r.Annotations["runbook_url"])
		assert.Equal(t, e.Severity == finding.Error, r.Labels["severity"] == "critical", name)
	}
	assert.Greater(t, alerts, 20)
	assert.True(t, strings.HasPrefix(monitoring.AlertName(finding.MemberDown), "OVNCentralMemberDown"))
}
