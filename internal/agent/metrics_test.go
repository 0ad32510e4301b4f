package agent

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

func TestMetricsSayWhatTheStatusSays(t *testing.T) {
	t.Parallel()
	a, now := played(t)
	a.tell(func(e *lease.Election, _ time.Duration) {
		a.seen.southbound = ovsdb.ErrNoLeader
		e.Saw(lease.Record{Holder: "u/1", Term: 4, TTLSeconds: 4}.String(), *now)
	})
	a.turn()
	*now += a.config.TTL / 4
	got := get(t, a, "/metrics")
	assert.Equal(t, http.StatusOK, got.Code)
	text := got.Body.String()
	for _, line := range []string{
		`ovn_central_lease_holder{unit="u/1"} 1`, "ovn_central_lease_acts 0", "ovn_central_lease_term 4", "ovn_central_lease_held_seconds 1",
		"# TYPE ovn_central_lease_changes_total counter", `ovn_central_agent_database_usable{database="nb"} 1`,
		`ovn_central_agent_database_usable{database="sb"} 0`, "ovn_central_agent_last_look_seconds 1", "ovn_central_build_info{version=",
	} {
		assert.Contains(t, text, line)
	}
	assert.NotContains(t, text, "libovsdb", "nothing of other parts")
	*now += a.config.TTL
	assert.NotContains(t, get(t, a, "/metrics").Body.String(), "ovn_central_lease_holder{", "nobody knows")
}
