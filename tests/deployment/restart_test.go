package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

func TestRestartsAreHeldBackAndShownUntilTheOperatorMakesThem(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	was := versions(units)[0]
	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "false"}))
	before := processes(t, units...)
	for _, u := range units {
		assert.Equal(t, "nothing is held back\n", c.act(t, u, "show-deferred-events", "format=text")["output"])
	}
	offer(t, "99.1.0-1", units...)
	require.NoError(t, c.Configure(t.Context(), archive(1)))
	c.tick(t, "all have the newer version", func() bool { return slices.Equal(versions(units), []string{"99.1.0-1"}) })
	assert.Equal(t, before, processes(t, units...), "nothing was restarted")
	reason := "upgrade from " + was + " to 99.1.0-1"
	for _, u := range units {
		says(t, u, "active", "Services queued for restart: ovn-central, ovn-northd, ovn-ovsdb-server-nb, ovn-ovsdb-server-sb; run action restart-services deferred-only=true")
		// check_show_deferred_events_action_restart of zaza-openstack-tests.
		var shown struct{ Restarts, Hooks []string }
		require.NoError(t, yaml.Unmarshal([]byte(c.act(t, u, "show-deferred-events")["output"]), &shown))
		assert.True(t, slices.ContainsFunc(shown.Restarts, func(event string) bool {
			return strings.Contains(event, "ovn-northd") && strings.Contains(event, reason)
		}), "%v", shown.Restarts)
		assert.Empty(t, shown.Hooks)
	}
	u := units[1]
	assert.Equal(t, "restart ovn-northd: "+reason+"\nrestart ovn-ovsdb-server-nb: "+reason+"\nrestart ovn-ovsdb-server-sb: "+reason+"\n",
		c.act(t, u, "show-deferred-events", "format=text")["output"])
	assert.Contains(t, c.act(t, u, "show-deferred-events", "format=yaml")["output"], "- service: ovn-northd\n  action: restart\n  reason: "+reason)
	assert.JSONEq(t, fmt.Sprintf(`[{"service":"ovn-northd","action":"restart","reason":%[1]q},{"service":"ovn-ovsdb-server-nb","action":"restart","reason":%[1]q},
		{"service":"ovn-ovsdb-server-sb","action":"restart","reason":%[1]q}]`, reason), c.act(t, u, "show-deferred-events", "format=json")["output"])

	// What would break the quorum is refused, and stays held back.
	require.NoError(t, units[2].Kill(lab.NB))
	said := c.refused(t, u, "restart-services", "deferred-only=true")
	assert.Contains(t, said, "nb: of 3 members 2 are up; while this unit's server is down there would be 1 of 3 up")
	assert.Contains(t, said, "down: ")
	assert.Contains(t, c.act(t, u, "show-deferred-events", "format=text")["output"], "restart ovn-ovsdb-server-nb: "+reason)
	require.NoError(t, units[2].Start(t.Context(), lab.NB))

	c.tick(t, "three members that are up", c.allActive)
	result := c.act(t, u, "restart-services", "deferred-only=true")
	assert.Contains(t, result["restarted"], "ovn-ovsdb-server-nb, ovn-ovsdb-server-sb")
	assert.Equal(t, "nothing is held back\n", c.act(t, u, "show-deferred-events", "format=text")["output"])
	says(t, u, "active")
	assert.NotContains(t, u.Workload().Message, "queued")
	assert.Equal(t, "nothing: no restart is held back", c.act(t, u, "restart-services", "deferred-only=true")["restarted"])

	// By name it is done whatever is held back.
	middle := processes(t, u)
	assert.Equal(t, "ovn-ovsdb-server-sb", c.act(t, u, "restart-services", "services=ovn-ovsdb-server-sb")["restarted"])
	after := processes(t, u)
	assert.Equal(t, strings.Split(middle[u.Name()+" nb"], ",")[0], strings.Split(after[u.Name()+" nb"], ",")[0])
	assert.NotEqual(t, middle[u.Name()+" sb"], after[u.Name()+" sb"])
	assert.Contains(t, c.refused(t, u, "restart-services", "services=mysql"), `no such service: "mysql"`)
	assert.Contains(t, c.refused(t, u, "restart-services"), "give either deferred-only=true, or services")

	down := watchServers(units)
	require.NoError(t, c.Configure(t.Context(), map[string]string{"enable-auto-restarts": "true"}))
	c.tick(t, "nothing is due any more", func() bool {
		return !slices.ContainsFunc(units, func(u *lab.Unit) bool { return strings.Contains(u.Workload().Message, "restart") }) && c.allActive()
	})
	down.end()
	assert.Empty(t, down.broken)
	for _, u := range units {
		assert.Equal(t, "nothing is held back\n", c.act(t, u, "show-deferred-events", "format=text")["output"])
	}
	for _, u := range []*lab.Unit{units[0], units[2]} {
		for name, process := range processes(t, u) {
			assert.NotEqual(t, before[name], process)
		}
	}
}
